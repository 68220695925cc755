"""The pairs that a recipe trains on and those that it holds out.

Both kinds of data, reasonings and conversations, become a `PairSet` here, so that no stage asks which it has. The rest
guards against a run that looks right and is not: `check_folders` before models load, `dev_pairs` against cases that are
trained on and evaluated on, `file_hashes` for a resumed run whose files have changed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from judge_r1.core.conversations import CONVERSATIONS_FILE, DOCUMENTS_FILE
from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import are, counted
from judge_r1.episode.prompts import CONVERSATIONS
from judge_r1.episode.questions import question, question_keys
from judge_r1.episode.rollout import check_prompts
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet, open_pairs
from judge_r1.files.transcripts import is_conversations, load_transcripts
from judge_r1.models.hub import context_length, file_hash
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


_SORTED_BATCHES = 50
"""Number of batches that are sorted by length together, so that examples of a batch have similar lengths."""


def shuffled(count: int, wanted: int, seed: int) -> list[int]:
    """`wanted` indices below `count`: epochs, each in a different order, the last one truncated."""
    epochs = range(-(-wanted // max(count, 1)))
    return [i for epoch in epochs for i in _epoch(count, epoch, seed)][:wanted]


def _epoch(count: int, epoch: int, seed: int) -> list[int]:
    # By hash: the order is the same in every version of Python and in both engines.
    return sorted(range(count), key=lambda i: content_hash("order", seed, epoch, i))


def pair_order(data: PairSet, wanted: int, seed: int) -> list[int]:
    """The order of GRPO: as `shuffled`, with the pairs in which A is better spread evenly over an epoch, so B's too.

    A judge without evidence guesses. Where more pairs of a step have one better side, guessing that side pays, and a
    judge that always answers so gets no other gradient."""
    sides = [pair.preferred for pair in data.pairs]
    count, total, order = len(sides), Counter(sides), list[int]()
    for epoch in range(-(-wanted // max(count, 1))):
        seen, places = Counter[str](), dict[int, float]()
        for i in _epoch(count, epoch, seed):
            places[i] = (seen[sides[i]] + 0.5) / total[sides[i]]
            seen[sides[i]] += 1
        order += sorted(places, key=places.__getitem__)
    return order[:wanted]


def question_rows(recipe: Recipe, data: PairSet, *, whole_epochs: bool = False) -> list[str]:
    """The keys of the questions of a run of GRPO, one a group, in the order of training; both reasonings of a pair
    that are scored alone follow each other. `whole_epochs` fills the last epoch."""
    grpo = recipe.grpo
    keys = question_keys(data, grpo.task)
    count, wanted = len(keys), grpo.steps * grpo.pairs_per_step
    if grpo.task == "listwise":
        wanted = count * -(-wanted // count) if whole_epochs else wanted
        return [keys[i] for i in shuffled(count, wanted, recipe.seed)]
    pairs = len(data.pairs)
    wanted = pairs * -(-wanted // pairs) if whole_epochs else wanted
    sides = count // pairs
    return [keys[i * sides + side] for i in pair_order(data, wanted, recipe.seed) for side in range(sides)]


def by_length(lengths: Sequence[int], wanted: int, batch_size: int, seed: int) -> list[int]:
    """As `shuffled`, with examples of similar length in a batch to reduce padding. The order of batches is random."""
    order = shuffled(len(lengths), wanted, seed)
    chunk = _SORTED_BATCHES * batch_size
    sorted_: list[int] = []
    for start in range(0, wanted, chunk):
        sorted_ += sorted(order[start : start + chunk], key=lambda i: -lengths[i])
    batches = [sorted_[start : start + batch_size] for start in range(0, wanted, batch_size)]
    # A partial batch stays last: in the middle it would shift the examples of all later steps.
    rest = [batches.pop()] if wanted % batch_size else []
    batches = [batches[i] for i in shuffled(len(batches), len(batches), seed)]
    return [i for batch in batches + rest for i in batch]


def check_data(recipe: Recipe, data: PairSet, tokenizer: SafeTokenizer, dev: PairSet | None = None) -> None:
    """Check that the pairs fill a step of GRPO and that every prompt fits, also those of the dev pairs.

    Raises:
        JudgeError: There are too few pairs, or a prompt is too long.
    """
    task, unit = recipe.grpo.task, "list" if recipe.grpo.task == "listwise" else "pair"
    for pairs in (data, dev) if dev is not None else (data,):
        keys = None if task == "pairwise" else question_keys(pairs, task)
        count = len(keys) if keys is not None and task == "listwise" else len(pairs.pairs)
        if pairs is data and count < recipe.grpo.pairs_per_step:
            raise JudgeError(
                f"recipe {recipe.name}: {counted(count, unit)} {are(count)} too few for one step of "
                f"grpo.pairs_per_step {recipe.grpo.pairs_per_step}"
            )
        by_id = pairs.by_id()
        questions = None if keys is None else [question(key, by_id) for key in keys]
        check_prompts(pairs, recipe.episode, tokenizer, context_length(recipe.model), questions)
