"""The data set of labelled pairs: its files, counts, dataset card and export formats."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_builders.dataset_type import Checker, DatasetType, ExampleStats, RecordCounts, RecordFile
from data_builders.exports import FORMATS, Format, PairExample
from data_builders.placement import stratum
from data_builders.second_opinion import Opinion
from data_builders.splits.index import SETS
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, open_cases, stored_pairs
from judge_r1.core.principles import PRINCIPLES, by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.text_check import counted
from judge_r1.training.recipe import Recipe


def pair_labels(pair: ReasoningPair) -> Mapping[str, Iterable[str]]:
    """What a pair counts under: its domain, kind and set (its principle if it violates one alone, or multi), each
    principle it violates, and the operator of each flaw."""
    return {
        "by_domain": [pair.domain],
        "by_kind": [pair.kind],
        "by_set": [stratum(pair)[1]],
        "by_principle": [by_number(number).code for number in pair.violated],
        "by_operator": [flaw.operator for flaw in pair.origin.flaws],
    }


CASE_FILE = RecordFile("case", CASES_FILE, Case, "case_id")
PAIR_FILE = RecordFile("pair", PAIRS_FILE, ReasoningPair, "pair_id", pair_labels)
OPINION_FILE = RecordFile("opinion", "opinions.jsonl", Opinion, "pair_id", optional=True)


class PairStats(ExampleStats[PairExample]):
    """Counts of one split of pairs, and the sources of its cases."""

    def __init__(self) -> None:
        super().__init__()
        self.a_better = 0
        self._placement: dict[str, dict[str, list[int]]] = {}
        self.cases: set[str] = set()
        self._labels = RecordCounts(PAIR_FILE)
        self.origins_of_flaws: Counter[tuple[str, int]] = Counter()
        self.sources: Counter[str] = Counter()

    def add(self, example: PairExample) -> None:
        pair, case = example
        self.total += 1
        self.a_better += pair.preferred == "A"
        self._labels.add(pair)
        domain, set_ = stratum(pair)
        counts = self._placement.setdefault(domain, {}).setdefault(set_, [0, 0])
        counts[0] += pair.preferred == "A"
        counts[1] += 1
        self.origins_of_flaws[pair.origin.teacher, pair.origin.seed] += 1
        if case.case_id not in self.cases:
            self.cases.add(case.case_id)
            self.sources[case.source.split("/")[0]] += 1
            self.licenses[case.license] += 1

    def cells(self) -> Mapping[str, object]:
        labels = self._labels.by_label()
        domains, kinds, principles = (labels.get(f"by_{name}", {}) for name in ("domain", "kind", "principle"))
        return {
            "domain": ", ".join(f"{domain} {count}" for domain, count in domains.items()),
            "cases": len(self.cases),
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
        flaws = sorted(self.origins_of_flaws.items())
        return [
            "Cases: " + ", ".join(f"{source} {count}" for source, count in sorted(self.sources.items())) + ".",
            "Flaws: " + ", ".join(f"{count} by {teacher} (seed {seed})" for (teacher, seed), count in flaws) + ".",
        ]

    def describe(self) -> str:
        return f"{counted(self.total, 'pair')} of {counted(len(self.cases), 'case')}"


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
    fits_recipes = True

    def examples(self, folder: Path) -> Iterator[PairExample]:
        return (PairExample(pair, case) for _, pair, case in stored_pairs(folder, open_cases(folder)))

    def example_id(self, example: PairExample) -> str:
        return example.pair.pair_id

    def checker(self, folder: Path, recipe: Recipe | None) -> Checker[Any]:
        from data_builders.pair_checker import PairChecker

        return PairChecker(self, folder, recipe)

    def stats(self) -> PairStats:
        return PairStats()

    def formats(self) -> Mapping[str, Format[PairExample]]:
        return {name: FORMATS.get(name) for name in FORMATS.names()}
