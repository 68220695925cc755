"""benchmarks: list the benchmarks of `eval` and the files that each needs."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from judge_r1.benchmarks.base import Benchmark


def benchmarks() -> None:
    """List the benchmarks of `eval`: what each measures, the files at --path, and its subsets.

    *verified*: tested with the real files. *unverified*: the files were not available, so the reader follows their
    public description. *outputs*: `eval --predictions` can score published outputs.

    Example: `judge-r1 benchmarks`
    """
    from judge_r1.benchmarks.base import BENCHMARKS

    console = Console()
    entries = {name: BENCHMARKS.get(name) for name in BENCHMARKS.names()}
    if not console.is_terminal:
        for name, entry in entries.items():
            head = f"{name} ({', '.join(states)})" if (states := _states(entry)) else name
            for line in (head, f"  {entry.about}", f"  path: {entry.path}"):
                console.out(line, highlight=False)
            if entry.subsets:
                console.out(f"  subset: {entry.subsets}", highlight=False)
        return
    table = Table("benchmark", "about", "at --path", "state", "--subset", show_lines=True)
    for name, entry in entries.items():
        table.add_row(*map(Text, (name, entry.about, entry.path, "\n".join(_states(entry)), entry.subsets)))
    console.print(table)


def _states(entry: "Benchmark") -> list[str]:
    tested = {True: ["verified"], False: ["unverified"], None: []}[entry.verified]
    return [*tested, *(["outputs"] if entry.predictions else [])]
