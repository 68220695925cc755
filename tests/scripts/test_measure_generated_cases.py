"""The script that measures generated cases: variants per case of a build."""

import sys
from pathlib import Path

import pytest
from split_factories import folder, long_case, pairs_of

from scripts import measure_generated_cases


def test_variants_of_a_build_are_counted_by_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [long_case(seed) for seed in range(3)]
    pairs = [pair for case in cases for pair in pairs_of(case)]
    del pairs[3]  # P4 of the first case
    built = folder(tmp_path / "built", cases, pairs)
    monkeypatch.setattr(sys, "argv", ["measure", "--build", str(built), "--block", "2"])
    measure_generated_cases.main()
    assert capsys.readouterr().out.splitlines() == [
        "legal, cases 1 to 2: P1 1.00, P2 1.00, P3 1.00, P4 0.50, P5 1.00, P6 1.00, multi 1.00",
        "legal, cases 3 to 3: P1 1.00, P2 1.00, P3 1.00, P4 1.00, P5 1.00, P6 1.00, multi 1.00",
    ]
