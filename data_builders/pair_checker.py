"""Checks pairs: gold scores, labels, flaw positions, A/B balance, and whether prompts and rationales fit a recipe."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from data_builders.dataset_type import Checker, DatasetType
from data_builders.perturb.pair_checks import RULES, check_pair
from data_builders.perturb.teacher.label_checks import REFUTED, checks_by_rules
from data_builders.text_units.steps import split_steps
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.reward import score
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.statistics.intervals import binomial_p
from judge_r1.training.recipe import Recipe

BALANCE_LEVEL = 0.001
"""A/B placement is random; a file is refused if a fair coin gives its balance with a smaller probability."""


class PairChecker(Checker[ReasoningPair]):
    """Checks a folder of pairs. Raises: JudgeError for records that cannot be read (`load_pairs`)."""

    def __init__(self, dataset: DatasetType[Any], folder: Path, recipe: Recipe | None = None) -> None:
        super().__init__(dataset, folder)
        self._data = load_pairs(folder)
        self._misfit = _recipe_check(self._data, recipe) if recipe else None
        self._steps: dict[tuple[str, tuple[int, ...], int], str] = {}
        self._labels = Counter[str]()
        self._a_better = sum(pair.preferred == "A" for pair in self._data.pairs)
        self._balance_p = binomial_p(self._a_better, len(self._data.pairs))

    def records(self) -> Iterator[ReasoningPair]:
        return iter(self._data.pairs)

    def problems(self, record: ReasoningPair) -> Iterator[str]:
        reward = score(record.gold, record)["r"]
        if reward != 1.0:
            yield f"its gold judgment scores {reward}, not 1.0"
        case = self._data.case_of(record)
        if reason := check_pair(case, record):
            yield reason
        elif record.origin.prompt_hash is not None:  # flaws by rules are checked word for word
            found = list(checks_by_rules(case, record))
            self._labels.update(found)
            yield from dict.fromkeys(one for one in found if one.endswith(REFUTED))
        if record.kind == "single":
            key = (record.case_id, record.violated, _step(record))
            if key in self._steps:
                yield f"breaks the same principle in the same step as pair {self._steps[key]}"
            self._steps[key] = record.pair_id
        if self._misfit and (reason := self._misfit(record)):
            yield reason

    def checked(self) -> Sequence[str]:
        fit = ("its prompt and rationale fit the recipe",) if self._misfit else ()
        by_rules = any(pair.origin.teacher == RULES or pair.origin.prompt_hash for pair in self._data.pairs)
        return (
            "its gold judgment scores 1.0", "outside its flaws it is the reference", "no two pairs break one principle "
            "in one step", *(("no rule refutes a P2 or P4 label",) if by_rules else ()), *fit,
        )  # fmt: skip

    def passed(self) -> bool:
        return self._balance_p >= BALANCE_LEVEL

    def notes(self) -> Sequence[str]:
        labels = [f"{found} in {count}" for found, count in sorted(self._labels.items())]
        ratios = sorted(len(pair.flawed) / len(pair.reference) for pair in self._data.pairs)
        return [
            f"A is better in {self._a_better} of {len(ratios)}, p = {self._balance_p:.3f} (exact binomial test)",
            f"length of flawed over reference: min {ratios[0]:.2f}, median {ratios[len(ratios) // 2]:.2f}, "
            f"max {ratios[-1]:.2f}",
            *([f"labels of a teacher: {', '.join(labels)}"] if labels else []),
        ]


def _step(pair: ReasoningPair) -> int:
    """The step of the reference that holds a single flaw; the two reasonings are identical up to the flaw."""
    start = pair.origin.flaws[0].span.start
    steps = split_steps(pair.reference)
    return max((step.index for step in steps if step.start <= start), default=0)


def _recipe_check(data: PairSet, recipe: Recipe) -> Callable[[ReasoningPair], str | None]:
    """A function that says why the prompt or rationale of a pair does not fit the recipe's budgets."""
    from data_builders.rationales.rules import gold_rationale
    from judge_r1.episode.case_retriever import CaseSearcher
    from judge_r1.episode.rollout import PromptTooLong
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer

    tokenizer, searcher = SafeTokenizer(load_tokenizer(recipe.model)), CaseSearcher(data.texts, recipe.episode)

    def misfit(pair: ReasoningPair) -> str | None:
        try:
            trajectory = gold_rationale(pair, data, recipe.episode, tokenizer, searcher)
        except PromptTooLong:
            return f"its prompt is over prompt_tokens {recipe.episode.prompt_tokens}"
        if trajectory.ended == "writer_gave_up":  # the passages do not settle it; prompt and pair fit
            return None
        if trajectory.reward is None or trajectory.reward["r"] != 1.0:
            return f"its rationale ends in {trajectory.ended} under this recipe"
        return None

    return misfit
