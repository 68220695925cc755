import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from toys import mini_cases

from data_builders.build import build
from data_builders.sources import SOURCES, Source
from judge_r1.records import Case


def test_a_case_that_comes_twice_is_kept_once_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = mini_cases(2, seed=0)

    def read(path: Path | None, limit: int | None, seed: int, skips: Counter[str]) -> Iterator[Case]:
        yield from (first, second, first.model_copy(update={"meta": {"copy": True}}))

    monkeypatch.setattr(SOURCES, "get", lambda name: Source(read, "toys", "mini"))
    counts = build("twice", tmp_path)
    assert counts["cases"] == 2
    assert counts["skipped_cases"] == {"twice: the same case again": 1}
    lines = (tmp_path / "cases.jsonl").read_text().splitlines()
    assert [json.loads(line)["meta"] for line in lines] == [{}, {}]
