"""`validate`: what must hold for every file of pairs, whoever made it (promise 4)."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from data_builders.perturb.pair_checks import check_pair
from data_builders.perturb.rules.steps import split_steps
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.reward import score
from judge_r1.statistics.intervals import binomial_p
from judge_r1.training.recipe import Recipe

BALANCE_LEVEL = 0.001
"""A/B placement is a coin; a file this unlikely under a fair one is refused."""


@dataclass(frozen=True)
class Report:
    """What was found. `problems` maps a reason to how many pairs have it and the id of one."""

    pairs: int
    valid: int
    a_better: int
    balance_p: float
    ratios: tuple[float, float, float]
    problems: dict[str, tuple[int, str]]

    @property
    def good(self) -> bool:
        return self.valid == self.pairs and self.balance_p >= BALANCE_LEVEL


def validate(folder: Path, recipe: Recipe | None = None) -> Report:
    """Check a folder; records that cannot be read at all raise (`load_pairs`), everything else is reported."""
    data = load_pairs(folder)
    found: dict[str, list[str]] = defaultdict(list)
    places: dict[tuple[str, tuple[int, ...], int], str] = {}
    for pair in data.pairs:
        for reason in _problems(pair, data):
            found[reason].append(pair.pair_id)
        if pair.kind == "single":
            place = (pair.case_id, pair.violated, _step(pair))
            if place in places:
                found[f"breaks the same principle in the same step as pair {places[place]}"].append(pair.pair_id)
            places[place] = pair.pair_id
    if recipe is not None:
        for reason, pair_ids in _misfits(data, recipe).items():
            found[reason] += pair_ids
    a_better = sum(pair.preferred == "A" for pair in data.pairs)
    ratios = sorted(len(pair.flawed) / len(pair.reference) for pair in data.pairs)
    return Report(
        pairs=len(data.pairs),
        valid=len(data.pairs) - len({pair_id for pair_ids in found.values() for pair_id in pair_ids}),
        a_better=a_better,
        balance_p=binomial_p(a_better, len(data.pairs)),
        ratios=(ratios[0], ratios[len(ratios) // 2], ratios[-1]),
        problems={reason: (len(pair_ids), pair_ids[0]) for reason, pair_ids in found.items()},
    )


def _problems(pair: ReasoningPair, data: PairSet) -> list[str]:
    reward = score(pair.gold, pair)["r"]
    problems = [f"its gold judgment scores {reward}, not 1.0"] if reward != 1.0 else []
    if reason := check_pair(data.case_of(pair), pair):
        problems.append(reason)
    return problems


def _step(pair: ReasoningPair) -> int:
    """The step of the reference that a single flaw stands in; up to the flaw, the two reasonings are the same."""
    start = pair.origin.flaws[0].span.start
    steps = split_steps(pair.reference)
    return max((step.index for step in steps if step.start <= start), default=0)


def _misfits(data: PairSet, recipe: Recipe) -> dict[str, list[str]]:
    """Pairs whose prompt or gold trace does not fit the recipe's budgets, by reason."""
    from data_builders.rationales.rules import gold_trace
    from judge_r1.episode.rollout import PromptTooLong, new_retriever
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer

    codec, retriever = SafeTokenizer(load_tokenizer(recipe.model)), new_retriever(data.texts, recipe.episode)
    misfits: dict[str, list[str]] = defaultdict(list)
    for pair in data.pairs:
        try:
            trajectory = gold_trace(pair, data, recipe.episode, codec, retriever)
        except PromptTooLong:
            misfits[f"its prompt is over prompt_tokens {recipe.episode.prompt_tokens}"].append(pair.pair_id)
            continue
        if trajectory.reward is None or trajectory.reward["r"] != 1.0:
            misfits[f"its gold trace ends in {trajectory.ended} under this recipe"].append(pair.pair_id)
    return misfits
