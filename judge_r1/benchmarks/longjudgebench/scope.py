"""Which part of LongJudgeBench is judged, and how: the words of a subset, joined by colons.

`SET[:structure|content][:SETTING][:search][:paper][:topic][:tables][:stripped]`, with the words after SET in any order:

* SET: one of the six, or `all`; SETTING: vanilla (the default), rubric, reference or rubric_reference
* structure, content: the one dimension of `surge`; both without it
* search: texts go into the case, to be searched, and candidates are compared in pairs
* paper: prompts, gold and order of presentation as released, faults included
* topic: prompts that leave the task out are given it; tables: RealDR's documents with their tables, which the release
  drops; stripped: MA's reports without the header that names their system
"""

from dataclasses import dataclass

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.registry import suggest

SETS = ("deepresearch_bench", "realdr", "surge", "wp_bench", "verify_bench_hard", "ma")
SETTINGS = ("vanilla", "rubric", "reference", "rubric_reference")
DIMENSIONS = ("structure", "content")
FLAGS = ("search", "paper", "topic", "tables", "stripped")
ALL = "all"


@dataclass(frozen=True)
class Scope:
    """A subset, read."""

    sets: tuple[str, ...] = SETS
    setting: str = "vanilla"
    dimensions: tuple[str, ...] = DIMENSIONS
    search: bool = False
    paper: bool = False
    topic: bool = False
    tables: bool = False
    stripped: bool = False

    @property
    def rubric(self) -> bool:
        return "rubric" in self.setting

    @property
    def reference(self) -> bool:
        return "reference" in self.setting

    @property
    def mode(self) -> str:
        """The setting as the release's prompt files name it."""
        return "vanilla" if self.setting == "vanilla" else f"vanilla_{self.setting}"


def scope_of(subset: str | None) -> Scope:
    """Errors: BadBenchmark, with the nearest word that there is."""
    first, *words = (subset or ALL).split(":")
    if first not in (ALL, *SETS):
        raise BadBenchmark(f"longjudgebench has no set {first!r}{suggest(first, (ALL, *SETS))}")
    known = (*SETTINGS, *DIMENSIONS, *FLAGS)
    for word in words:
        if word not in known:
            raise BadBenchmark(f"subset {subset!r}: {word!r} says nothing{suggest(word, known)}")
    settings = [word for word in words if word in SETTINGS]
    dimensions = tuple(word for word in words if word in DIMENSIONS)
    if len(settings) > 1 or len(words) != len(set(words)):
        raise BadBenchmark(f"subset {subset!r} must name one setting, and each word once")
    if dimensions and first != "surge":
        raise BadBenchmark(f"subset {subset!r}: only surge has the dimension {dimensions[0]!r}")
    if first == "wp_bench" and settings and "reference" in settings[0]:
        raise BadBenchmark(f"subset {subset!r}: wp_bench has no references; it has vanilla and rubric")
    if "search" in words and "rubric" in "".join(settings):
        raise BadBenchmark(f"subset {subset!r}: with search no rubric is shown: take vanilla or reference")
    if {"search", "paper"} <= set(words):
        raise BadBenchmark(f"subset {subset!r}: the paper has no search, so it cannot be both")
    return Scope(
        SETS if first == ALL else (first,),
        settings[0] if settings else "vanilla",
        dimensions or DIMENSIONS,
        **{flag: True for flag in FLAGS if flag in words},
    )
