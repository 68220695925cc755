"""The pairs that a recipe trains on and those that it holds out.

Both kinds of data, reasonings and conversations, become a `PairSet` here, so that no stage asks which it has. The rest
guards against a run that looks right and is not: `check_folders` before models load, `dev_pairs` against cases that are
trained on and evaluated on, `file_hashes` for a resumed run whose files have changed.
"""

from collections.abc import Mapping
from pathlib import Path

from judge_r1.core.conversations import CONVERSATIONS_FILE, DOCUMENTS_FILE
from judge_r1.core.errors import JudgeError, lacks, name_below
from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import counted
from judge_r1.episode.prompts import CONVERSATIONS
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet, open_pairs
from judge_r1.files.transcripts import is_conversations, load_transcripts
from judge_r1.models.hub import file_hash
from judge_r1.training.recipe import Recipe


def training_pairs(folder: Path) -> PairSet:
    """The pairs of a data folder. Raises: JudgeError for an invalid file."""
    return load_transcripts(folder) if is_conversations(folder) else open_pairs(folder)


def file_hashes(recipe: Recipe) -> dict[str, dict[str, str]]:
    """The SHA-256 of the files that a recipe trains on and evaluates on, by role and file name."""
    folders = {"train": recipe.data.train, "dev": recipe.data.dev}
    return {role: _hashes(folder) for role, folder in folders.items() if folder is not None}


def _names(folder: Path) -> tuple[str, str]:
    return (DOCUMENTS_FILE, CONVERSATIONS_FILE) if is_conversations(folder) else (CASES_FILE, PAIRS_FILE)


def _hashes(folder: Path) -> dict[str, str]:
    return {name: file_hash(folder / name) for name in _names(folder) if (folder / name).is_file()}


def check_folders(recipe: Recipe) -> None:
    """Check that the recipe's data exist, and that its prompt and stage fit them.

    Raises:
        JudgeError: A file is missing, or `check_conversations` fails.
    """
    folders = {"train": recipe.data.train} | ({"dev": recipe.data.dev} if recipe.data.dev else {})
    for part, data in folders.items():
        for name in _names(data):
            if not (data / name).exists():
                without = ", or train without evaluation by data.dev=null" if part == "dev" else ""
                raise JudgeError(
                    f"recipe {recipe.name}: data.{part} {lacks(data, name)}: build the pairs first (judge-r1 "
                    f"build, then judge-r1 split as in docs/build_dataset.md for the paper's sets), or give another "
                    f"folder as data.{part}=FOLDER{without}{name_below(data, name)}"
                )
    check_conversations(recipe)


def check_conversations(recipe: Recipe) -> None:
    """Check that the recipe's data, prompt and stage fit each other.

    Raises:
        JudgeError: Conversations have another prompt, or a stage that does not take them; or the reverse.
    """
    style, folder = recipe.episode.prompt, recipe.data.train
    if not is_conversations(folder):
        if style == CONVERSATIONS:
            raise JudgeError(f"recipe {recipe.name}: prompt {style!r} needs conversations, and {folder} holds none")
        return
    if style != CONVERSATIONS:
        raise JudgeError(f"recipe {recipe.name}: {folder} holds conversations: set episode.prompt to {CONVERSATIONS}")
    if recipe.stage != "sft" or recipe.sft.form == "rationales":
        what = f"stage {recipe.stage}" if recipe.stage != "sft" else "rationales"
        raise JudgeError(
            f"recipe {recipe.name}: conversations train by sft on the gold answers, not by {what}: set stage=sft "
            "sft.form=json"
        )
    if recipe.data.dev is not None and not is_conversations(recipe.data.dev):
        raise JudgeError(f"recipe {recipe.name}: data.dev {recipe.data.dev} holds no conversations, unlike data.train")


def dev_pairs(recipe: Recipe, train: PairSet) -> PairSet | None:
    """The dev pairs of a recipe: all, or `eval_pairs` chosen by the seed. None without `data.dev`.

    Raises:
        JudgeError: A case, or two cases of one article, are in both folders.
    """
    if recipe.data.dev is None:
        return None
    data = training_pairs(recipe.data.dev)
    known = {case.group for case in train.cases.values()}
    if shared := sorted({case.group for case in data.cases.values()} & known):
        raise JudgeError(
            f"recipe {recipe.name}: data.dev {recipe.data.dev} and data.train {recipe.data.train} share "
            f"{counted(len(shared), 'case')}, or articles of cases, for example {shared[0]}: split them by case "
            "(`judge-r1 split --dev-share`)"
        )
    by_id = data.by_id()
    return PairSet(data.cases, [by_id[pair_id] for pair_id in chosen_ids(by_id, recipe)])


def chosen_ids(pair_ids: Mapping[str, object], recipe: Recipe) -> list[str]:
    """The ids of the dev pairs, in the order of the file. A larger `eval_pairs` includes the pairs of a smaller one."""
    if recipe.eval_pairs is None:
        return list(pair_ids)
    ranked = sorted(pair_ids, key=lambda pair_id: content_hash("dev", recipe.seed, pair_id))
    chosen = set(ranked[: recipe.eval_pairs])
    return [pair_id for pair_id in pair_ids if pair_id in chosen]
