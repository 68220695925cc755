"""The data set of labelled pairs: its files, counts, dataset card and export formats."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_builders.dataset_type import Checker, DatasetType, ExampleStats, RecordFile
from data_builders.exports import FORMATS, Format, PairExample
from data_builders.placement import set_name
from data_builders.second_opinion import Opinion
from data_builders.splits.index import SETS
from judge_r1.core.principles import PRINCIPLES, by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, open_cases, stored_pairs
from judge_r1.training.recipe import Recipe


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
        from data_builders.pair_checker import PairChecker

        return PairChecker(self, folder, recipe)

    def stats(self) -> PairStats:
        return PairStats(self)

    def formats(self) -> Mapping[str, Format[PairExample]]:
        return {name: FORMATS.get(name) for name in FORMATS.names()}
