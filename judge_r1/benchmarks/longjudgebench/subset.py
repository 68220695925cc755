"""The options of a LongJudgeBench evaluation, and the subset text that they are parsed from.

The text is `SET[:OPTION…]`, options in any order: `surge:content:search`, `ma:reference`, `all:paper`.

* SET: one of the six data sets, or `all`
* `vanilla` (default), `rubric`, `reference`, `rubric_reference`: the setting, which is what the prompt shows
* `structure`, `content`: one dimension of `surge` instead of both
* `search`: texts go into the case to be searched, and candidates are compared in pairs
* `paper`: prompts, gold and presentation order as released, including their errors
* `topic`: adds the task to prompts that leave it out
* `tables`: RealDR's documents with their tables, which the release drops
* `stripped`: MA's reports without the header that names their system
* `key_insights`: MA's reference is the list of key insights that its annotators saw, not the conclusion
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.registry import suggest
from judge_r1.judges.request import TokenLimits

Setting = Literal["vanilla", "rubric", "reference", "rubric_reference"]
Dimension = Literal["structure", "content"]
SETS = ("deepresearch_bench", "realdr", "surge", "wp_bench", "verify_bench_hard", "ma")
SETTINGS: tuple[Setting, ...] = get_args(Setting)
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
_WITHOUT_TASK = ("realdr", "surge", "ma")
"""The sets whose prompts leave the task out."""
FLAGS = ("search", "paper", "topic", "tables", "stripped", "key_insights")
LIMITS = TokenLimits(prompt_tokens=131_072, response_tokens=24_576)
"""The limits of the paper's runs, from the release's configuration."""
ALL = "all"


@dataclass(frozen=True)
class SubsetOptions:
    """Which data sets are judged, and how. Raises BadBenchmark for options that exclude each other."""

    sets: tuple[str, ...] = SETS
    setting: Setting = "vanilla"
    dimensions: tuple[Dimension, ...] = DIMENSIONS
    search: bool = False
    paper: bool = False
    topic: bool = False
    tables: bool = False
    stripped: bool = False
    key_insights: bool = False

    def __post_init__(self) -> None:
        if self.sets == ("wp_bench",) and self.reference:
            raise BadBenchmark("wp_bench has no references; it has vanilla and rubric")
        if self.search and self.rubric:
            raise BadBenchmark("search does not support rubrics: use vanilla or reference")
        if self.search and self.paper:
            raise BadBenchmark("the paper has no search: use either search or paper")
        if self.key_insights and (self.sets != ("ma",) or not self.reference):
            raise BadBenchmark("key_insights is a reference of ma: use it as ma:reference:key_insights")
        of_sets = {"topic": _WITHOUT_TASK, "tables": ("realdr",), "stripped": ("ma",)}
        for flag, sets in of_sets.items():
            if getattr(self, flag) and not set(sets) & set(self.sets):
                raise BadBenchmark(f"{flag} has no effect on {', '.join(self.sets)}: it is for {', '.join(sets)}")
        if self.topic and self.search:
            raise BadBenchmark("topic has no effect on search, whose question has the task: leave it out")
        if self.key_insights and self.paper:
            raise BadBenchmark("the paper's reference is the conclusion: use either key_insights or paper")

    @property
    def rubric(self) -> bool:
        return "rubric" in self.setting

    @property
    def reference(self) -> bool:
        return "reference" in self.setting

    @property
    def limits(self) -> TokenLimits:
        """The token limits of a judge. A judge with search does not see the texts and keeps its own."""
        return TokenLimits() if self.search else LIMITS

    @property
    def mode(self) -> str:
        """The setting as the release's prompt files name it."""
        return "vanilla" if self.setting == "vanilla" else f"vanilla_{self.setting}"


def parse_subset(subset: str | None) -> SubsetOptions:
    """The options of a subset text; all sets without one. Raises BadBenchmark, with the nearest known word."""
    name, *words = (ALL if subset is None else subset).split(":")
    if name not in (ALL, *SETS):
        raise BadBenchmark(f"longjudgebench has no set {name!r}{suggest(name, (ALL, *SETS))}")
    known = (*SETTINGS, *DIMENSIONS, *FLAGS)
    for word in words:
        if word not in known:
            raise BadBenchmark(f"subset {subset!r}: unknown option {word!r}{suggest(word, known)}")
    settings = [setting for setting in SETTINGS if setting in words]
    if len(settings) > 1 or len(words) != len(set(words)):
        raise BadBenchmark(f"subset {subset!r} must name one setting, and each option once")
    given: dict[str, Any] = {flag: True for flag in FLAGS if flag in words}
    if settings:
        given["setting"] = settings[0]
    if dimensions := tuple(dimension for dimension in DIMENSIONS if dimension in words):
        if name != "surge":
            raise BadBenchmark(f"subset {subset!r}: only surge has the dimension {dimensions[0]!r}")
        given["dimensions"] = dimensions
    try:
        return SubsetOptions(SETS if name == ALL else (name,), **given)
    except BadBenchmark as error:
        raise BadBenchmark(f"subset {subset!r}: {error}") from None
