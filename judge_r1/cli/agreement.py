"""agreement: count people's answers about texts, and how far people agree."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def agreement(
    answers: Annotated[
        list[Path],
        typer.Argument(help="Files of labels, as for `labels check`: annotator, id, answer or label, group."),
    ],
    question: Annotated[str | None, typer.Option(help="The question of an export that has several.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="JSON file to write.")] = None,
) -> None:
    """Count people's answers to one question about many texts: means with intervals, and the agreement of people.

    An answer is a number from 0 to 1 or a word: pass, yes or good is 1, fail, no or bad 0; of two texts A is 1, tie 0.5
    and B 0. `group` separates judges or systems. Exports of tools for labelling and folders of `audit serve` are read,
    too. Of a log of Inspect, the scorers are the people, and the model is the group. The interval of a group is over
    clusters, which a column `cluster`, or `cluster_id` in the metadata of samples, names.

    Example: `judge-r1 agreement reasonable.csv --out reasonable.json`
    """
    from judge_r1.evaluation.inspect_logs import Notes
    from judge_r1.evaluation.report.tables import print_grid
    from judge_r1.files.jsonl import write_json
    from judge_r1.labels.people import answer_grids, count_answers, read_answers

    notes = Notes()
    counted = count_answers(read_answers(answers, notes, question))
    console = Console()
    for grid in answer_grids(counted):
        print_grid(grid, console)
    if out:
        write_json(out, {"schema": 1, "groups": counted, "notes": notes})
        console.print(f"agreement: {out}", soft_wrap=True, markup=False)
