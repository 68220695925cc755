"""The data set of labelled pairs: its files, counts, dataset card and export formats."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_builders.dataset_type import Checker, DatasetType, ExampleStats, RecordFile
from data_builders.exports import FORMATS, Format, PairExample
from data_builders.perturb.pair_checks import RULES, check_pair
from data_builders.perturb.teacher.label_checks import REFUTED, checks_by_rules
from data_builders.placement import set_name
from data_builders.second_opinion import Opinion
from data_builders.splits.index import SETS
from data_builders.text_units.steps import split_steps
from judge_r1.core.principles import PRINCIPLES, by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.reward import score
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet, load_pairs, open_cases, stored_pairs
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
    from judge_r1.models.hub import text_tokenizer

    tokenizer, searcher = SafeTokenizer(text_tokenizer(recipe.model)), CaseSearcher(data.texts, recipe.episode)

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


def pair_labels(pair: ReasoningPair) -> Mapping[str, Iterable[str]]:
    """What a pair counts under: its domain, kind and set (its principle if it violates one alone, or multi), each
    principle it violates, and the operator of each flaw."""
    return {
        "by_domain": [pair.domain],
        "by_kind": [pair.kind],
        "by_set": [set_name(pair)],
        "by_principle": [by_number(number).code for number in pair.violated],
        "by_operator": [flaw.operator for flaw in pair.origin.flaws],
    }


CASE_FILE = RecordFile("case", CASES_FILE, Case, "case_id")
PAIR_FILE = RecordFile("pair", PAIRS_FILE, ReasoningPair, "pair_id", pair_labels)
OPINION_FILE = RecordFile("opinion", "opinions.jsonl", Opinion, "pair_id", optional=True)


class PairStats(ExampleStats[PairExample]):
    """Counts of one split of pairs."""

    def __init__(self, dataset: DatasetType[PairExample]) -> None:
        super().__init__(dataset)
        self._placement: dict[str, dict[str, list[int]]] = {}
        self._flaws: Counter[tuple[str, int]] = Counter()

    def add(self, example: PairExample) -> None:
        super().add(example)
        pair = example.pair
        counts = self._placement.setdefault(pair.domain, {}).setdefault(set_name(pair), [0, 0])
        counts[0] += pair.preferred == "A"
        counts[1] += 1
        self._flaws[pair.origin.teacher, pair.origin.seed] += 1

    def cells(self) -> Mapping[str, object]:
        labels = self.counts.by_label()
        domains, kinds, principles = (labels.get(f"by_{name}", {}) for name in ("domain", "kind", "principle"))
        return {
            "domain": ", ".join(f"{domain} {count}" for domain, count in domains.items()),
            "cases": len(self.about),
            "pairs": self.total,
            "A better": self.a_better,
            "single": kinds.get("single", 0),
            "multi": kinds.get("multi", 0),
            **{principle.code: principles.get(principle.code, 0) for principle in PRINCIPLES},
        }

    def placement(self) -> Sequence[Mapping[str, object]]:
        return [
            {"domain": domain, **{name: "{} of {}".format(*sets[name]) for name in SETS if name in sets}}
            for domain, sets in sorted(self._placement.items())
        ]

    def origins(self) -> Sequence[str]:
        cases: Counter[str] = Counter()
        for source, count in self.sources.items():
            cases[source.split("/")[0]] += count
        flaws = sorted(self._flaws.items())
        return [
            "Cases: " + ", ".join(f"{source} {count}" for source, count in sorted(cases.items())) + ".",
            "Flaws: " + ", ".join(f"{count} by {teacher} (seed {seed})" for (teacher, seed), count in flaws) + ".",
        ]


class PairDataset(DatasetType[PairExample]):
    """Cases, pairs, and opinions on the pairs if the build had a verifier. An example is a pair with its case."""

    files = (CASE_FILE, PAIR_FILE, OPINION_FILE)
    main = PAIR_FILE
    title = "Pairs of reasonings for judges"
    description = (
        "Two reasonings of one case: which one is better, and which of six principles the other one breaks.",
        "",
        *(f"* {p.code} {p.name}: {p.definition}" for p in PRINCIPLES),
    )
    table_note = "A pair counts under every principle that it violates."
    tags = ("llm-as-a-judge", "preference", "reasoning")
    about = ("case", "case_id")
    fits_recipes = True

    def examples(self, folder: Path) -> Iterator[PairExample]:
        return (PairExample(pair, case) for _, pair, case in stored_pairs(folder, open_cases(folder)))

    def checker(self, folder: Path, recipe: Recipe | None) -> Checker[Any]:

        return PairChecker(self, folder, recipe)

    def stats(self) -> PairStats:
        return PairStats(self)

    def formats(self) -> Mapping[str, Format[PairExample]]:
        return {name: FORMATS.get(name) for name in FORMATS.names()}
