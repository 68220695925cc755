"""Draws the terminal view of a run: `python scripts/screenshot_watch.py RUN PICTURE.svg`."""

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from judge_r1.training.monitor.dashboard import view
from judge_r1.training.monitor.history import History, Tail
from judge_r1.training.monitor.watch import state
from judge_r1.training.recipe import load_recipe

WIDTH = 112


def draw(folder: Path, picture: Path) -> None:
    history = History()
    for _ in Tail(folder / "metrics.jsonl", history).update():
        pass
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    recipe = load_recipe(folder / "recipe.yaml")
    console.print(view(recipe, folder, history, state=state(folder, history), width=WIDTH))
    drawn = console.export_svg(title=f"judge-r1 watch {folder}")
    picture.write_text(re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL), encoding="utf-8")  # no web fonts


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
