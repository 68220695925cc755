"""Renders dataset statistics as a table in the terminal, and as `stats.html` with the table and three charts."""

from importlib.resources import files
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from data_builders.audit.dataset_stats import DatasetStats
from data_builders.audit.published_tables import NOT_PRINTED, figure_3, table_1
from judge_r1.core.jsonl import write_atomic
from judge_r1.core.principles import PRINCIPLES
from judge_r1.evaluation.report.charts import bar_chart, colors_of
from judge_r1.evaluation.report.plain_page import plain_page

TABLE_1 = ("Table 1 of LRBench", "reasoning", "pairs", "mean prompt tokens")
FIGURE_3 = ("Figure 3 of LRBench", "this set", "LRBench")
COLUMNS = ("", "pairs", "cases", "A better, p", "prompt tokens", "prompt words", "context tokens", "longest")


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


def table_1_rows(stats: DatasetStats) -> list[tuple[str, ...]]:
    """Return the rows of the paper's Table 1 with this set below them."""
    return [
        (row.dataset, "yes" if row.reasoning else "no", f"{row.pairs:,}", f"{row.prompt_tokens:,.1f}")
        for row in table_1(stats)
    ]


def figure_3_rows(stats: DatasetStats) -> list[tuple[str, ...]]:
    """Return the quantities of the paper's Figure 3: name, this set, the paper."""
    return [(name, f"{share:.1f} %", NOT_PRINTED) for name, share in figure_3(stats.overall).items()]


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
    tables = ((TABLE_1, table_1_rows(stats)), (FIGURE_3, figure_3_rows(stats)))
    title, charts = f"Statistics of {stats.overall.pairs} pairs", figures(stats)
    page = plain_page(
        template, title=title, stats=stats, columns=COLUMNS, rows=rows(stats), figures=charts, tables=tables
    )
    write_atomic(path, [page])


def print_statistics(stats: DatasetStats, console: Console) -> None:
    """Print the table by domain, and the paper's Table 1 and Figure 3 with this set. Lengths are means."""
    title = f"Mean lengths; tokens of {stats.tokenizer}"
    for columns, lines in ((COLUMNS, rows(stats)), (TABLE_1, table_1_rows(stats)), (FIGURE_3, figure_3_rows(stats))):
        table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
        for column in columns:
            table.add_column(column, justify="right" if column and column != columns[0] else "left")
        for line in lines:
            table.add_row(*line)
        console.print(table)
        title = ""
