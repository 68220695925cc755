"""Puts a set of pairs into the tables of the LRBench paper: Table 1 (size and prompt length) and Figure 3 (balance)."""

from dataclasses import dataclass

from data_builders.audit.dataset_stats import DatasetStats, GroupStats

NOT_PRINTED = "not printed"
"""Figure 3 of the paper is an image without numbers; the text calls both sides "nearly balanced"."""


@dataclass(frozen=True)
class Table1Row:
    """One dataset: whether it has reasoning, its pairs, and the mean length of its prompts in tokens."""

    dataset: str
    reasoning: bool
    pairs: int
    prompt_tokens: float


PUBLISHED = (
    Table1Row("PandaLM", False, 287_858, 148.7),
    Table1Row("JudgeLM", False, 104_647, 377.1),
    Table1Row("JudgeBench", True, 350, 1396.0),
    Table1Row("LRBench", True, 105_290, 3090.3),
)
"""Table 1 as printed. The paper does not name the tokenizer."""


def table_1(stats: DatasetStats) -> tuple[Table1Row, ...]:
    """Return the published rows and that of this set."""
    own = stats.overall
    return (*PUBLISHED, Table1Row("this set", True, own.pairs, round(own.prompt_tokens.mean, 1)))


def figure_3(group: GroupStats) -> dict[str, float]:
    """Return the share of pairs on each side, and the share of each principle among all violations, in percent."""
    better, violations = group.a_better / group.pairs, sum(group.principles.values())
    sides = {"A>B": better, "A<B": 1 - better}
    principles = {name: count / violations for name, count in group.principles.items()}
    return {name: round(100 * share, 1) for name, share in (sides | principles).items()}
