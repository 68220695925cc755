"""The dataset card of an export: what is in it, where it comes from, how it was made. `datasets.load_dataset` reads its
header to find the files."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from judge_r1.core.principles import PRINCIPLES, by_number
from judge_r1.core.records import Case, ReasoningPair


def _creative_commons(terms: str, version: str) -> str:
    """A licence by its name or its address, but not in the variant of another body (`/igo`)."""
    number = re.escape(version)
    return rf"(?:CC {terms} {number}|creativecommons\.org/licenses/{terms.lower()}/{number}(?!/\w))"


_KNOWN = {
    "apache-2.0": r"Apache-2\.0",
    "mit": r"MIT",
    "cc0-1.0": r"CC0(?: 1\.0|-1\.0)?",
    **{f"cc-by-{v}": _creative_commons("BY", v) for v in ("2.0", "3.0", "4.0")},
    **{f"cc-by-sa-{v}": _creative_commons("BY-SA", v) for v in ("3.0", "4.0")},
}
"""Licences by the names that dataset hubs know, and how corpora spell them."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass
class SplitStats:
    """What a split holds, counted while it is written."""

    pairs: int = 0
    a_better: int = 0
    cases: set[str] = field(default_factory=set)
    domains: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    principles: Counter[str] = field(default_factory=Counter)
    origins: Counter[tuple[str, int]] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)

    def add(self, pair: ReasoningPair, case: Case) -> None:
        self.pairs += 1
        self.a_better += pair.preferred == "A"
        self.domains[pair.domain] += 1
        self.kinds[pair.kind] += 1
        self.principles.update(by_number(number).code for number in pair.violated)
        self.origins[pair.origin.teacher, pair.origin.seed] += 1
        if case.case_id not in self.cases:
            self.cases.add(case.case_id)
            self.sources[case.source.split("/")[0]] += 1
            self.licenses[case.license] += 1

    def summary(self) -> dict[str, Any]:
        """The counts that are for reading by programs."""
        return {
            "cases": len(self.cases),
            "pairs": self.pairs,
            "a_better": self.a_better,
            "by_domain": dict(sorted(self.domains.items())),
            "by_kind": dict(sorted(self.kinds.items())),
            "by_principle": dict(sorted(self.principles.items())),
        }


def hub_licenses(texts: Sequence[str]) -> list[str]:
    """The names that a hub knows, `other` for whatever a licence says beyond one of them."""
    found = set()
    for text in texts:
        names = [name for name, spelt in _KNOWN.items() if re.search(rf"\b{spelt}(?![\w.])", text)]
        exact = any(re.fullmatch(spelt, text.strip()) for spelt in _KNOWN.values())
        found.update(names if exact else [*names, "other"])
    return sorted(found)


def dataset_card(
    name: str,
    files: Mapping[str, Mapping[str, str]],
    tallies: Mapping[str, SplitStats],
    whole: SplitStats,
    notes: Sequence[str],
    split: Mapping[str, Any] | None,
    versions: Mapping[str, str],
) -> str:
    """README.md: `files` has each table's file by split, `tallies` what the splits hold, `whole` what all of
    them do together, `split` is the split.json that the pairs came with."""
    configs = [
        {
            "config_name": table,
            **({"default": True} if at == 0 else {}),
            "data_files": [{"split": split_name, "path": path} for split_name, path in paths.items()],
        }
        for at, (table, paths) in enumerate(files.items())
    ]
    header = {
        "pretty_name": f"Pairs of reasonings for judges ({name})",
        "license": hub_licenses(list(whole.licenses)),
        "size_categories": [next((label for limit, label in _SIZES if whole.pairs < limit), "n>1M")],
        "tags": ["llm-as-a-judge", "preference", "reasoning"],
        "configs": configs,
    }
    body = [
        f"# Pairs of reasonings for judges ({name})",
        "",
        "Two reasonings of one case: which one is better, and which of six principles the other one breaks.",
        "",
        *(f"* {p.code} {p.name}: {p.definition}" for p in PRINCIPLES),
        "",
        *(f"{note}\n" for note in notes),
        *_sizes(tallies),
        "",
        "A pair counts under every principle that it violates.",
        "",
        "## How it was built",
        "",
        *_origins(whole),
        *(["", *_split(split)] if split else []),
        "",
        "Written with " + ", ".join(f"{package} {version}" for package, version in versions.items()) + ".",
        "",
        "## Licences",
        "",
        "As the corpora state them:",
        "",
        *(f"* {' '.join(text.split())} ({count} cases)" for text, count in sorted(whole.licenses.items())),
    ]
    return f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n\n" + "\n".join(body) + "\n"


def _sizes(tallies: Mapping[str, SplitStats]) -> list[str]:
    columns = ["split", "domain", "cases", "pairs", "A better", "single", "multi", *(p.code for p in PRINCIPLES)]
    rows = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for name, tally in tallies.items():
        domains = ", ".join(f"{domain} {count}" for domain, count in sorted(tally.domains.items()))
        counts = [len(tally.cases), tally.pairs, tally.a_better, tally.kinds["single"], tally.kinds["multi"]]
        values = [name, domains, *counts, *(tally.principles[p.code] for p in PRINCIPLES)]
        rows.append(f"| {' | '.join(map(str, values))} |")
    return rows


def _origins(whole: SplitStats) -> list[str]:
    sources, origins = whole.sources, whole.origins
    return [
        "Cases: " + ", ".join(f"{source} {count}" for source, count in sorted(sources.items())) + ".",
        "Flaws: "
        + ", ".join(f"{count} by {who} (seed {seed})" for (who, seed), count in sorted(origins.items()))
        + ".",
    ]


def _split(split: Mapping[str, Any]) -> list[str]:
    settings = ", ".join(f"{key} {value}" for key, value in split["settings"].items())
    near = split["near_duplicates"]
    lines = [
        f"Split by case ({settings}); {near['pairs']} pairs of nearly alike cases (runs of eight words, Jaccard index "
        f"of at least {near['threshold']}), none on both sides.",
    ]
    if (lengths := split.get("prompt_tokens")) and lengths["left_out"]:
        lines.append(f"{lengths['left_out']} pairs with prompts over {lengths['limit']} tokens were left out.")
    return lines
