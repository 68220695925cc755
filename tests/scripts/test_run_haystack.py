"""The haystack experiment runs from the data to its table, and a second run uses what the first one made."""

import json
import sys
from pathlib import Path

import pytest

from data_builders.build import write_pairs
from data_builders.haystack_splits import build_splits, shuffled_labels
from scripts.run_haystack import (
    DIFFERENCES,
    MEASURES,
    TRAINED,
    WARMUP,
    AnyPassages,
    main,
    searches_by_line,
    with_starts,
)


def test_rows_follow_those_that_they_start_from() -> None:
    rows = list(TRAINED)
    for row, spec in TRAINED.items():
        assert not spec.start or rows.index(spec.start) < rows.index(row)
    assert with_starts(["GRPO from careful"]) == ["careful SFT", "GRPO from careful"]


def test_differences_compare_rows_that_exist() -> None:
    conditions = ("", ", sampled", ", search disabled", ", another case's passages")
    rows = {f"{row}{condition}" for row in TRAINED for condition in conditions}
    assert {row for difference in DIFFERENCES for row in difference} <= rows


def test_each_search_of_the_control_shows_passages() -> None:
    searcher = AnyPassages({"1": "Ana left oslo. Ben took iron. " * 8}, WARMUP.episode)
    [matched, nothing] = searcher.search([("1", "ben"), ("1", "zed")], 3)
    assert len(matched) == len(nothing) == 3
    assert [passage.score > 0 for passage in (matched[0], nothing[0])] == [True, False]
    assert nothing[0].text.startswith("Ana left oslo.")


def test_searches_are_counted_by_what_the_judge_says_of_a_line() -> None:
    texts = [
        "1 A x B x same skip 2 A y B z differs left left alike check A y</think><search> y",
        "1 A x B y differs left took unlike skip 2 A x B x same",
    ]
    lines = [{"row": "judge", "trajectory": {"token_ids": [number]}} for number in range(2)]
    found = searches_by_line(
        [*lines, {"row": "judge", "trajectory": None}], lambda ids: texts[ids[0]], lambda line: line["row"]
    )
    assert found == {
        "judge": {
            "search if same": 0.0, "search if differs": 0.5, "search if same, line 1": 0.0,
            "search if same, line 2": 0.0, "search if differs, line 1": 0.0, "search if differs, line 2": 1.0,
        }
    }  # fmt: skip


def test_a_written_table_gives_t_intervals_over_the_seeds_that_two_rows_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = {"GRPO": (0.9, 0.8, 0.1), "warm-up": (0.5, 0.6), "careful SFT": (0.5,)}
    rows = {row: [dict.fromkeys(MEASURES, score) for score in seeds] for row, seeds in scores.items()}
    (tmp_path / "table.json").write_text(json.dumps({"by_seed": rows}))
    monkeypatch.setattr(sys, "argv", ["run_haystack", "--table", str(tmp_path / "table.json")])
    main()
    # mean .3, standard deviation .1414, t(1) at .975 = 12.706
    assert capsys.readouterr().out.splitlines() == [
        f"GRPO - warm-up, t over 2 seeds: {what} +0.300 [-0.971, +1.571]" for what in MEASURES
    ]


@pytest.mark.slow
def test_rows_run_and_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    splits = build_splits(tmp_path / "data", {"train": 4, "dev": 2, "test": 1})
    write_pairs(shuffled_labels(splits["train"], 0), tmp_path / "data" / "shuffled")
    (tmp_path / "data" / "draw.json").write_text('{"draw": 0, "source": "haystack"}')
    rows = ["warm-up", "GRPO", "GRPO, shuffled labels"]
    small = ["sft.examples=32", "sft.epochs=1", "grpo.steps=1", "eval_pairs=4"]
    monkeypatch.setattr(
        sys, "argv", ["run_haystack", "--out", str(tmp_path), "--seeds", "1", "--rows", *rows, "--set", *small]
    )
    main()
    table = json.loads((tmp_path / "table-dev.json").read_text())
    steps = (tmp_path / "steps.csv").read_text().splitlines()
    assert steps[0] == "seed,row,step,accuracy,F1 P2,F1 P4,label collapse,of gold labels"
    assert [step.split(",1,")[0] for step in steps[1:]] == ["0,GRPO", '0,"GRPO, shuffled labels"']
    assert {*rows, "base", "GRPO, search disabled", "GRPO, another case's passages"} == set(table["rows"])
    assert table["rules"]["rule: the differing line"]["accuracy"] == 1
    assert table["rows"]["base"]["valid_rate"] == 0
    assert "GRPO - warm-up" in table["differences"]
    models = {path: path.stat().st_mtime_ns for path in tmp_path.glob("0/*/model/model.safetensors")}
    assert len(models) == len(rows)
    capsys.readouterr()
    main()
    assert {path: path.stat().st_mtime_ns for path in models} == models
    assert json.loads((tmp_path / "table-dev.json").read_text()) == table


def test_a_folder_with_another_draw_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "draw.json").write_text('{"draw": 0, "source": "haystack"}')
    monkeypatch.setattr(sys, "argv", ["run_haystack", "--out", str(tmp_path), "--draw", "1"])
    with pytest.raises(SystemExit):
        main()
    assert "has the data of {'draw': 0, 'source': 'haystack'}: choose another --out" in capsys.readouterr().err
