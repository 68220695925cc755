"""An in-process teacher that answers by a function, and tables on disk, for source tests."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from data_builders.sources import Source, completed, items
from data_builders.teachers import Attempts, Teacher, TeacherReply, TeacherRequest
from judge_r1.core.records import Case

Reply = Callable[[TeacherRequest], str]


class FunctionTeacher:
    """Answers without delay by a function of the request; records its requests."""

    name = "toy"

    def __init__(self, reply: Reply, *, finished: bool = True) -> None:
        self.reply, self.finished = reply, finished
        self.requests: list[TeacherRequest] = []

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        self.requests.append(request)
        await asyncio.sleep(0)
        return TeacherReply(
            text=self.reply(request), input_tokens=1, output_tokens=1, finished=self.finished, model="toy"
        )


def between(text: str, tag: str) -> str:
    """The text between two tags in a prompt."""
    return text.split(f"<{tag}>\n", 1)[1].split(f"\n</{tag}>", 1)[0]


def gather(
    source: Source, path: Path | None, teacher: Teacher | None = None, limit: int | None = None
) -> tuple[list[Case], Counter[str], Counter[str]]:
    """All cases of a source, the skipped ones and the rejected ones."""
    skipped: Counter[str] = Counter()
    tried = Attempts()

    async def run() -> list[Case]:
        unused = FunctionTeacher(lambda request: "")  # a plain source calls no teacher
        found = items(source, path, limit, 0, skipped, teacher)
        return [case for item in found if (case := await completed(item, teacher or unused, skipped, tried))]

    return asyncio.run(run()), skipped, tried.rejected


def write_rows(file: Path, rows: list[dict[str, Any]]) -> Path:
    """Writes rows as a JSON Lines file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file
