"""The scripted experiments of docs/judgememo.md at a small size."""

from pathlib import Path

import pytest

from data_builders.manipulations.stories import story
from scripts.known_errors_judge import PENALTIES, visible_errors
from scripts.run_judgememo import main


def test_the_judge_of_known_errors_finds_none_in_a_story_that_was_not_changed() -> None:
    for number in range(3):
        found = visible_errors(story(number, 6_000)[1])
        assert found == {tag: [] for tag in PENALTIES}


def test_reports_outgrow_a_small_context_and_scores_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--documents", "4", "--tokens", "400", "--short", "150", "--context", "850"]
    main(["--out", str(tmp_path), "--parts", "context", *sizes])
    shown = capsys.readouterr().out
    unfit = {}
    for length in ("400", "full"):
        part = shown.partition(f"## Pairs of {length} tokens, a context of 850 words")[2].partition("\n## ")[0]
        unfit[length] = [float(line.split("|")[2]) for line in part.splitlines() if line.startswith("| memo")]
    assert unfit["400"] == [0, 0]
    assert unfit["full"][0] == 0, "the mean of scores needs no report"
    assert unfit["full"][1] > 0, "two reports on 3,200 tokens do not fit"
