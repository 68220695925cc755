"""Files of labels, and a scripted endpoint that judges them."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from fake_judge_endpoint import JudgeServer, chat_completion
from numpy.typing import NDArray

HUMAN = [1, 1, 2, 2, 2, 5, 5, 5, 5, 2, 1, 5, 2, 5, 1, 2, 5, 5, 2, 1]
JUDGE = [1, 2, 2, 2, 5, 5, 5, 5, 2, 2, 1, 5, 1, 5, 1, 2, 5, 5, 2, 2]
"""Labels and verdicts on a scale from 1 to 5 of which nobody uses 3 and 4."""


def inverted(*at: int) -> NDArray[np.float64]:
    """20 ones and 20 zeros, turned around at these places."""
    found = np.array([1.0] * 20 + [0.0] * 20)
    found[list(at)] = 1 - found[list(at)]
    return found


PEOPLE = np.stack([inverted(), inverted(17, 18, 19, 38, 39), inverted(12, 13, 35, 36)], axis=1)
VERDICTS = inverted(19, 30, 31)
"""The labels of three people on 40 items, and the verdicts of a judge."""

TWO_CLASSES = (("pass", "pass", 70), ("pass", "fail", 10), ("fail", "pass", 5), ("fail", "fail", 15))
"""Label, verdict and count: the agreement is .85."""
TRUSTED = (("pass", "pass", 59), ("pass", "fail", 1), ("fail", "pass", 1), ("fail", "fail", 59))


def rows_of(counts: Iterable[tuple[str, str, int]], **more: str) -> list[dict[str, str]]:
    """Rows with an own text each. The word in brackets is what `scripted` answers."""
    found: list[dict[str, str]] = []
    for label, verdict, count in counts:
        for _ in range(count):
            n = len(found)
            row = {"id": f"i{n}", "input": f"question {n}", "output": f"answer {n} [{verdict}]", "label": label}
            found.append({**row, "verdict": verdict, **more})
    return found


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    rows = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scripted(change: Callable[[str, str], str] = lambda prompt, word: word, model: str = "toy-2026") -> JudgeServer:
    """An endpoint that answers the word in brackets of the prompt; `change(prompt, word)` makes it another judge."""

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        prompt = "\n".join(message["content"] for message in body["messages"])
        words = re.findall(r"\[(\w+)\]", prompt)
        status, data = chat_completion(change(prompt, words[-1] if words else "none"))
        return status, {**data, "model": model, "system_fingerprint": "fp_1"}

    return JudgeServer(answer)
