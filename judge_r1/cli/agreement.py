"""agreement: count people's answers about texts, and how far people agree."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def agreement(
    answers: Annotated[
        list[Path],
        typer.Argument(help="JSON Lines, JSON or CSV: annotator, id, answer, group; or logs of Inspect."),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="JSON file to write.")] = None,
) -> None:
    """Count people's answers to one question about many texts: means with intervals, and the agreement of people.

    An answer is a number from 0 to 1 or a word: pass, yes or good is 1, fail, no or bad 0; of two texts A is 1, tie 0.5
    and B 0. The column may be called label, too. `group` separates judges or systems. The scores of a log of Inspect
    are answers, too: its scorers are the people, and its model is the group. The interval of a group is over clusters,
    which `cluster_id` in the metadata of samples names.

    Example: `judge-r1 agreement reasonable.csv --out reasonable.json`
    """
    from judge_r1.evaluation.inspect_logs import Notes
    from judge_r1.evaluation.people_answers import answer_grids, count_answers, read_answers
    from judge_r1.evaluation.report.tables import print_grid
    from judge_r1.files.jsonl import write_json

    notes = Notes()
    counted = count_answers(read_answers(answers, notes))
    console = Console()
    for grid in answer_grids(counted):
        print_grid(grid, console)
    if out:
        write_json(out, {"schema": 1, "groups": counted, "notes": notes})
        console.print(f"agreement: {out}", soft_wrap=True, markup=False)
