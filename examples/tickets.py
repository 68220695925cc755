"""A source of cases: support tickets with the agent's decision and reasoning.

judge-r1 build tickets path=tickets.jsonl --out runs/tickets

A line of the file is one ticket. What is left out is counted in `skips`, and the build prints it.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from data_builders.sources import SOURCES, Source
from judge_r1.core.records import Case


def read(path: Path | None, limit: int | None, seed: int, skips: Counter[str]) -> Iterator[Case]:
    assert path is not None
    for line in path.read_text(encoding="utf-8").splitlines()[:limit]:
        row = json.loads(line)
        if not row["reasoning"]:
            skips["no reasoning"] += 1
            continue
        yield Case.of(
            domain="support",
            context=row["ticket"],
            decision=row["decision"],
            reference=row["reasoning"],
            source="tickets",
            license="CC BY 4.0",
            meta={"group": row["customer"]},
        )


SOURCES.register("tickets")(Source(read=read, help="support tickets"))
