"""Shows dataset statistics in the tables of the LRBench paper: in the terminal, and as stats.html with charts."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from data_builders.audit.dataset_stats import DatasetStats
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.text_check import counted
from judge_r1.evaluation.report.charts import bar_chart, colors_of
from judge_r1.evaluation.report.standalone import plain_page
from judge_r1.files.jsonl import write_atomic

PUBLISHED = (("PandaLM", False, 287_858, 148.7), ("JudgeLM", False, 104_647, 377.1), ("JudgeBench", True, 350, 1396.0),
             ("LRBench", True, 105_290, 3090.3))  # fmt: skip
"""Table 1 as printed: dataset, whether it has reasoning, pairs, mean tokens of a prompt, by no named tokenizer."""
TABLE_1 = ("Table 1 of LRBench", "reasoning", "pairs", "mean prompt tokens")
FIGURE_3 = ("Figure 3 of LRBench", "this set", "LRBench")
NOT_PRINTED = "not printed"
"""Figure 3 of the paper is an image without numbers; the text calls both sides "nearly balanced"."""
COLUMNS = ("", "pairs", "cases", "A better, p", "prompt tokens", "prompt words", "context tokens", "longest")


def published(stats: DatasetStats) -> dict[str, Any]:
    """The paper's Table 1 with this set below it, and the quantities of Figure 3: the share of pairs on each side, and
    of each principle among all violations, in percent."""
    own = stats.overall
    better, violations = own.a_better / own.pairs, sum(own.principles.values())
    shares = {"A>B": better, "A<B": 1 - better} | {name: n / violations for name, n in own.principles.items()}
    table = (*PUBLISHED, ("this set", True, own.pairs, round(own.prompt_tokens.mean, 1)))
    return {
        "table_1": [dict(zip(("dataset", "reasoning", "pairs", "prompt_tokens"), row, strict=True)) for row in table],
        "figure_3_percent": {name: round(100 * share, 1) for name, share in shares.items()},
    }


def rows(stats: DatasetStats) -> list[tuple[str, ...]]:
    """Return one row per domain, and a row `overall` if there are several."""
    groups = {**stats.domains, **({"overall": stats.overall} if len(stats.domains) > 1 else {})}
    return [
        (
            name,
            f"{group.pairs:,}",
            f"{group.cases:,}",
            f"{group.a_better / group.pairs:.1%}, {group.balance_p:.2f}",
            f"{group.prompt_tokens.mean:,.1f}",
            f"{group.prompt_words.mean:,.1f}",
            f"{group.context_tokens.mean:,.1f}",
            f"{group.context_tokens.longest:,}",
        )
        for name, group in groups.items()
    ]


def _published_tables(stats: DatasetStats) -> list[tuple[Sequence[str], Sequence[Sequence[str]]]]:
    found = published(stats)
    table_1 = [
        (row["dataset"], "yes" if row["reasoning"] else "no", f"{row['pairs']:,}", f"{row['prompt_tokens']:,.1f}")
        for row in found["table_1"]
    ]
    figure_3 = [(name, f"{share:.1f} %", NOT_PRINTED) for name, share in found["figure_3_percent"].items()]
    return [(TABLE_1, table_1), (FIGURE_3, figure_3)]


def figures(stats: DatasetStats) -> list[tuple[str, str]]:
    """Return title and SVG of the charts: A/B balance, principles and context lengths, in % of each domain."""
    colors = colors_of(list(stats.domains))
    balance, principles, contexts = {}, {}, {}
    for domain, group in stats.domains.items():
        share = group.a_better / group.pairs
        balance[domain] = [round(100 * share, 1), round(100 * (1 - share), 1)]
        total = sum(group.principles.values())
        principles[domain] = [round(100 * count / total, 1) for count in group.principles.values()]
        contexts[domain] = [round(100 * count / group.cases, 1) for count in stats.histogram(group)]
    charts = [
        ("The better reasoning, % of pairs", ["A", "B"], balance),
        ("Violated principles, % of violations", [p.code for p in PRINCIPLES], principles),
        ("Context tokens from, % of cases", [_short(edge) for edge in stats.edges[:-1]], contexts),
    ]
    return [(title, bar_chart(title, labels, series, colors)) for title, labels, series in charts]


def _short(number: int) -> str:
    return f"{number / 1000:g}k" if number >= 1000 else str(number)


def write_page(stats: DatasetStats, path: Path) -> None:
    """Write the statistics as a self-contained page."""
    template = (files(__package__) / "stats.html").read_text(encoding="utf-8")
    title, shown = f"Statistics of {counted(stats.overall.pairs, 'pair')}", {"columns": COLUMNS, "rows": rows(stats)}
    page = plain_page(
        template, title=title, stats=stats, figures=figures(stats), tables=_published_tables(stats), **shown
    )
    write_atomic(path, [page])


def print_statistics(stats: DatasetStats, console: Console) -> None:
    """Print the table by domain, and the paper's Table 1 and Figure 3 with this set. Lengths are means."""
    title = f"Mean lengths; tokens of {stats.tokenizer}"
    for columns, lines in ((COLUMNS, rows(stats)), *_published_tables(stats)):
        table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
        for column in columns:
            table.add_column(column, justify="right" if column and column != columns[0] else "left")
        for line in lines:
            table.add_row(*line)
        console.print(table)
        title = ""
