"""The pairs that a recipe trains on: reasonings, or conversations as transcripts."""

from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PairSet, open_pairs
from judge_r1.core.transcripts import is_conversations, load_transcripts
from judge_r1.episode.prompts import CONVERSATIONS
from judge_r1.training.recipe import Recipe


def training_pairs(folder: Path) -> PairSet:
    """The pairs of a data folder. Raises: JudgeError for an invalid file."""
    return load_transcripts(folder) if is_conversations(folder) else open_pairs(folder)


def check_conversations(recipe: Recipe) -> None:
    """Check that the recipe's data, prompt and stage fit each other.

    Raises:
        JudgeError: Conversations have another prompt, or a stage that does not take them; or the reverse.
    """
    style, folder = recipe.episode.prompt, recipe.data.train
    if not is_conversations(folder):
        if style in CONVERSATIONS:
            raise JudgeError(f"recipe {recipe.name}: prompt {style!r} needs conversations, and {folder} holds none")
        return
    if style not in CONVERSATIONS:
        raise JudgeError(
            f"recipe {recipe.name}: {folder} holds conversations: set episode.prompt to {' or '.join(CONVERSATIONS)}"
        )
    if recipe.stage == "dpo" or recipe.on_verl:
        what = "stage dpo" if recipe.stage == "dpo" else "engine verl"
        raise JudgeError(f"recipe {recipe.name}: conversations train by sft, and by grpo on the engine trl, not {what}")
    if recipe.data.dev is not None and not is_conversations(recipe.data.dev):
        raise JudgeError(f"recipe {recipe.name}: data.dev {recipe.data.dev} holds no conversations, unlike data.train")
