"""The curves of a haystack run show its dev rows and the lines that its samples searched, by step."""

import json
import sys
from pathlib import Path

import pytest

from judge_r1.models.hub import load_tokenizer
from scripts.haystack_curves import main
from scripts.run_haystack import BASE


def test_curves_are_printed_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "1" / "warm-fc-search"
    run.mkdir(parents=True)
    dev = {"dev/accuracy": 0.5, "dev/accuracy/P2": 0.25, "dev/accuracy/P4": 0.13, "dev/reward/F1": 0.75}
    rows = [{"step": 9}, {"step": 10, **dev, "dev/reward/evidence_hit": 1.0}]
    (run / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    searched = " differs check A Keli</think><search> Keli</search>"
    samples = [(1, searched), (10, " differs skip"), (10, " same skip"), (11, searched)]
    encode = load_tokenizer(BASE).encode
    traces = [{"step": step, "trajectory": {"token_ids": encode(text)}} for step, text in samples]
    lines = [*map(json.dumps, [*traces, {"step": 3, "trajectory": None}]), '{"step": 12, "traj']
    (run / "traces.jsonl").write_text("\n".join(lines))

    monkeypatch.setattr(sys, "argv", ["haystack_curves", str(run)])
    main()
    assert capsys.readouterr().out.splitlines() == [
        "| | 10 | 20 |",
        "|---|---|---|",
        "| 1/warm-fc-search: P2 | 0.25 |  |",
        "| 1/warm-fc-search: P4 | 0.13 |  |",
        "| 1/warm-fc-search: all | 0.50 |  |",
        "| 1/warm-fc-search: label F1 | 0.75 |  |",
        "| 1/warm-fc-search: evidence | 1.00 |  |",
        "| 1/warm-fc-search: searched if `differs` | 0.50 | 1.00 |",
        "| 1/warm-fc-search: searched if `same` | 0.00 |  |",
    ]


@pytest.mark.parametrize("present", ["metrics.jsonl", "traces.jsonl"])
def test_another_folder_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], present: str
) -> None:
    (tmp_path / present).write_text('{"step": 1, "trajectory": null}\n')
    monkeypatch.setattr(sys, "argv", ["haystack_curves", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert f"{tmp_path}: no results on dev in metrics.jsonl" in capsys.readouterr().err
