"""Rationale traces for the SFT stage of a recipe: from a teacher's file, or written by rules."""

from collections import Counter

from data_builders.rationales.rules import warmup_traces
from data_builders.rationales.store import stored_traces
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import Trajectory
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.training.recipe import Recipe


def recipe_traces(recipe: Recipe, data: PairSet, tokenizer: SafeTokenizer) -> tuple[list[Trajectory], Counter[str]]:
    """Returns the traces that `recipe` trains on, and the number of rejected ones by reason."""
    if (file := recipe.sft.traces_file) is None:
        return warmup_traces(data, recipe, tokenizer)
    rejected: Counter[str] = Counter()
    wanted = recipe.sft.traces
    return list(stored_traces(file, data, recipe.episode, tokenizer, wanted=wanted, rejected=rejected)), rejected
