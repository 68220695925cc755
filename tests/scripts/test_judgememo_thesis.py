"""The recomputation of the JudgeMemo thesis: printed tables against each other, and released outputs by name."""

import copy
from pathlib import Path

import pytest

from judge_r1.statistics.paired import paired_t
from scripts import judgememo_thesis as thesis


def disagreeing(title: str, tables: dict[str, object]) -> list[str]:
    return [check.claim for check in thesis.CHECKS[title](tables) if not check.agrees]


def test_the_printed_tables_contradict_each_other_where_the_docs_say() -> None:
    tables = thesis.printed_tables()
    assert disagreeing("Differences of gold scores", tables) == [
        "Table 5.2: Q-T, fluency, 2K - Full", "Table 5.2: Q-T, coherence, 2K - Full",
    ]  # fmt: skip
    twice = disagreeing("Numbers that are printed twice", tables)
    assert [claim.partition(" of")[0] for claim in twice] == ["Table 5.2: LI, fluency", "Table 5.2: LI, coherence"]
    assert disagreeing("Means of z", tables) == []
    assert len(disagreeing("Numbers of the text", tables)) == 5
    assert (
        tables["gold"]["judgememo"]["Q-T"]["difference fluency"]
        == (tables["gold"]["vanilla"]["Q-T"]["difference fluency"])
    ), "copied from the other table"


def test_a_wrong_digit_is_found() -> None:
    tables = copy.deepcopy(thesis.printed_tables())
    tables["z"]["judgememo"]["43"]["LI"] += 0.1
    assert disagreeing("Means of z", tables) == [
        "Table A.15: [43], mean", "Table A.15: [43], standard deviation", "Table A.15: LI, mean z of fluency",
        "Table A.15: LI, mean z of overall",
    ]  # fmt: skip


def test_significance_at_the_right_level() -> None:
    vanilla, memo = thesis.significance(thesis.printed_tables())
    assert "beyond ±1.669 18, p < .05 16, p < .05 after Holm 10; two-sided critical value 1.998" in vanilla
    assert "beyond ±1.669 4, p < .05 3, p < .05 after Holm 0; two-sided critical value 2.045" in memo


def write(folder: Path, scores: dict[str, tuple[float, float]]) -> None:
    folder.mkdir(parents=True)
    for name, (fluency, coherence) in scores.items():
        text = f"3) FINAL Coherence Score: {coherence}\n4) FINAL Fluency Score: {fluency}\n\nfinish_reason: stop"
        (folder / f"eval_exp_1_JM-{name}.txt").write_text(text)


def test_released_outputs_are_read_by_the_name_of_the_metric(tmp_path: Path) -> None:
    at = tmp_path / "experiments" / thesis.MODELS["LN-noT"] / thesis.VANILLA
    names = [str(number) for number in range(63)]
    write(at / "gold_pg-1900_2000", dict.fromkeys(names, (4.5, 4.0)))
    write(at / "gold_pg-1900_full", dict.fromkeys(names, (4.0, 4.0)))
    drops = {name: number % 3 / 2 for number, name in enumerate(names)}
    write(at / "manipulated_pg-1900_2000/F/4/41", {name: (4.5 - drop, 4.0) for name, drop in drops.items()})
    write(at / "manipulated_pg-1900_full/F/4/41", {name: (4.0 - drop / 2, 1.0) for name, drop in drops.items()})
    lines = list(thesis.released(tmp_path, thesis.printed_tables()))
    assert lines[0] == (
        "LN-noT, 2K, fluency: mean 4.500 of 63 documents, so 4.392 to 4.515 for 65; Table 5.1 3.915 (impossible), its "
        "other metric 4.354 (impossible)"
    )
    assert "Table 5.1 4.223 (impossible), its other metric 3.762 (impossible)" in lines[3]
    t = [paired_t([-drop * part for drop in drops.values()]).t or 0.0 for part in (1, 0.5, 0.5)]
    expected = "z(2K) {:.2f}, z(Full) {:.2f}, z(2K - Full) {:.2f} of 63; Table A.13 0.179".format(*t)
    assert lines[4:] == [f"LN-noT, [41] fluency: {expected}"]


def test_a_folder_without_outputs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="give a checkout of the repository"):
        thesis.main(["--released", str(tmp_path)])
    thesis.main([])
    assert "## Means of z: 51 of 51 agree" in capsys.readouterr().out
