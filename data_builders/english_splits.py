"""The short English pairs that `recipes/english` trains on and that `bundled:judge-en` can judge."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import ReasoningPair

SEED, DEMO_SEED = 16, 2026
"""Seeds of the experiment's generated cases, and of those that the demo judges, which are others."""
PLAN = partial(BuildPlan, kinds=("single",), max_steps=3)
"""Build options that keep a reference short: at most three of its steps."""


def build_kept(out: Path, plan: BuildPlan, is_kept: Callable[[ReasoningPair], bool]) -> PairSet:
    """Builds pairs in a folder and returns those that are kept, with all cases."""
    build_by_rules(generator_for(plan.source, with_teacher=False)(plan), out)
    every = load_pairs(out)
    return PairSet(every.cases, [pair for pair in every.pairs if is_kept(pair)])
