"""Reading sheets: the sample is balanced, a line shows what differs, and answers are summarised by principle."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from audit_factories import sample_pairs
from command_server import run
from factories import make_case, make_pair, mini_pairs

from data_builders.audit.annotation.agreement import EVERYONE, OVERALL
from data_builders.audit.reading.results import load_readings, reading_report
from data_builders.audit.reading.sheet import SheetItem, draw, marked_passage, sheet_item, write_sheet
from data_builders.build import write_pairs
from data_builders.export import export
from data_builders.exports import Options
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Flaw, Origin, ReasoningPair, Span
from judge_r1.files.jsonl import read_jsonl
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.labels.audit_answers import AnswerFileError
from judge_r1.statistics.intervals import wilson_ci


@pytest.fixture
def sheet(pairs: Path, tmp_path: Path) -> Path:
    write_sheet([pairs], tmp_path / "sheet", per_principle=4, seed=0)
    return tmp_path / "sheet"


def items(sheet: Path) -> list[SheetItem]:
    return list(read_jsonl(sheet / "sheet.jsonl", SheetItem, unique="pair_id"))


def fill(sheet: Path, path: Path, no: dict[int, dict[str, Any]] | None = None, last: int | None = None) -> Path:
    """A copy of the sheet where all answers are yes but those of the numbers in `no`, up to number `last`."""
    lines = []
    for item in items(sheet):
        answer = {"real": True, "natural": True, **(no or {}).get(item.number, {})}
        read = last is None or item.number <= last
        lines.append(json.dumps(item.model_dump(mode="json", by_alias=True) | (answer if read else {})))
    path.write_text("\n".join(lines))
    return path


def test_a_sample_has_equally_many_pairs_per_principle_and_balanced_domains() -> None:
    data = mini_pairs(300)
    drawn = draw([data], 7, 0)
    assert Counter(c.principle for c in drawn) == dict.fromkeys(range(1, 7), 7)
    for principle in range(1, 7):
        domains = Counter(c.domain for c in drawn if c.principle == principle)
        assert sorted(domains.values()) == [2, 2, 3]
    assert max(Counter(c.case_id for c in drawn).values()) == 1
    assert [c.order for c in drawn] == sorted(c.order for c in drawn)
    assert draw([data], 7, 0) == drawn != draw([data], 7, 1)
    more = draw([data], 10_000, 0)
    assert {c.pair_id for c in more} == {pair.pair_id for pair in data.pairs if pair.kind == "single"}


def test_a_line_shows_the_difference_with_its_surroundings_and_the_evidence() -> None:
    reference = "1. The father paid 34 crowns on time. 2. The claim stands."
    case = make_case("The father paid 34 crowns in Rome. The son left.", reference=reference)
    start = reference.index("34")
    flaw = Flaw(
        principle=2, operator="number", span=Span(start=start, end=start + 2), context_spans=(Span(start=16, end=18),)
    )
    pair = ReasoningPair.of(
        case, reference.replace("34", "91"), variant=1, origin=Origin(teacher="t", seed=0, flaws=(flaw,)), seed=0
    )
    item = sheet_item(3, pair, case)
    assert (item.number, item.principle, item.domain) == (3, "P2", "legal")
    assert item.definition.startswith("Factual Consistency: ")
    assert item.reference == reference.replace("34", "⟦34⟧")
    assert item.flawed == reference.replace("34", "⟦91⟧")
    assert item.evidence == ("The father paid ⟦34⟧ crowns in Rome. The son left.",)
    assert item.related == (case.context,)
    assert item.real is item.natural is None
    logic = make_pair(make_case(), violated=(1,))
    assert sheet_item(1, logic, make_case()).related == ()


@pytest.mark.parametrize(
    ("around", "shown"),
    [(100, "one two ⟦three⟧ four five"), (4, "… two ⟦three⟧ …"), (5, "… two ⟦three⟧ four …"), (0, "… ⟦three⟧ …")],
)
def test_a_passage_is_cut_at_blanks(around: int, shown: str) -> None:
    text = "one two three four five"
    assert marked_passage(text, 8, 13, around) == shown


def test_a_sheet_is_a_data_set_and_is_not_overwritten(sheet: Path, pairs: Path, tmp_path: Path) -> None:
    data = load_pairs(sheet)
    assert [pair.pair_id for pair in data.pairs] == [item.pair_id for item in items(sheet)]
    assert [item.number for item in items(sheet)] == list(range(1, 25))
    assert json.loads((sheet / "sample.json").read_text())["pairs"] == 24
    with pytest.raises(JudgeError, match="holds pairs already, maybe a sheet with answers: write to another folder"):
        write_sheet([pairs], sheet, per_principle=4, seed=0)
    write_sheet([pairs], tmp_path / "again", per_principle=4, seed=0)
    for name in ("cases.jsonl", "pairs.jsonl", "sheet.jsonl", "sample.json"):
        assert (tmp_path / "again" / name).read_bytes() == (sheet / name).read_bytes()


def test_pairs_that_differ_outside_the_flaw_are_refused() -> None:
    case = make_case(reference="1. ana paid 34. 2. so this counts.")
    flaw = Flaw(principle=1, operator="t", span=Span(start=0, end=2))
    origin = Origin(teacher="t", seed=0, flaws=(flaw,))
    pair = ReasoningPair.of(case, "1. ana paid 35. 2. so this counts!", variant=1, origin=origin, seed=0)
    with pytest.raises(JudgeError, match="run judge-r1 validate"):
        sheet_item(1, pair, case)


def results(sheet: Path, *files: Path) -> dict[str, Any]:
    return reading_report(*load_readings(sheet, files))


def test_answers_are_summarised_by_principle_and_reader(sheet: Path, tmp_path: Path) -> None:
    numbers = {item.number: item for item in items(sheet)}
    of_p3 = [number for number, item in numbers.items() if item.principle == "P3"]
    ana = fill(
        sheet, tmp_path / "ana.jsonl", {of_p3[0]: {"real": False, "note": "an odd word"}, of_p3[1]: {"natural": False}}
    )
    ben = fill(sheet, tmp_path / "ben.jsonl", {of_p3[0]: {"real": False}})
    found = results(sheet, ana, ben)
    assert found["readers"] == ["ana", "ben"]
    rows = {(row["reader"], row["principle"]): row for row in found["rows"]}
    assert len(rows) == 3 * 7
    own = rows["ana", "P3"]
    assert (own["pairs"], own["real"]["share"], own["natural"]["share"]) == (4, 0.75, 0.75)
    together = rows[EVERYONE, OVERALL]
    assert (together["pairs"], together["real"]["n"]) == (24, 48)
    assert together["real"]["share"] == pytest.approx(46 / 48)
    assert together["natural"]["share"] == pytest.approx(47 / 48)
    assert together["real"]["ci95"][0] < together["real"]["share"] < together["real"]["ci95"][1]
    assert rows["ana", "P1"]["real"]["ci95"] == pytest.approx(wilson_ci(4, 4))
    agreement = {(line["principle"], line["question"]): line for line in found["agreement"]}
    assert (agreement["P3", "real"]["share"], agreement["P3", "real"]["kappa"]) == (1.0, 1.0)
    assert (agreement["P3", "natural"]["n"], agreement["P3", "natural"]["share"]) == (4, 0.75)
    assert agreement["P1", "real"]["kappa"] is None
    first, second = sorted(found["doubted"], key=lambda pair: not pair["agreed"])
    assert (first["pair_id"], first["agreed"]) == (numbers[of_p3[0]].pair_id, True)
    assert first["answers"]["ana"] == {"real": False, "natural": True, "note": "an odd word"}
    assert (second["pair_id"], second["agreed"]) == (numbers[of_p3[1]].pair_id, False)


def test_unread_pairs_and_earlier_answers_do_not_count(sheet: Path, tmp_path: Path) -> None:
    path = fill(sheet, tmp_path / "ana.jsonl", last=10)
    overall = results(sheet, path)["rows"][-1]
    assert (overall["principle"], overall["pairs"]) == (OVERALL, 10)
    first = items(sheet)[0].pair_id
    with path.open("a") as file:
        file.write("\n" + json.dumps({"pair_id": first, "real": False, "natural": True}))
    assert results(sheet, path)["rows"][-1]["real"]["share"] == pytest.approx(9 / 10)
    assert results(sheet, path)["agreement"] == []


def test_invalid_answers_are_reported_with_file_and_line(sheet: Path, tmp_path: Path) -> None:
    path, pair_id = tmp_path / "ana.jsonl", items(sheet)[0].pair_id
    for line, sentence in (
        ({"pair_id": pair_id, "real": "yes", "natural": True}, "ana.jsonl, line 1: field real"),
        ({"pair_id": pair_id, "real": True, "natural": None}, "line 1: .*must both be true or false"),
        ({"pair_id": pair_id, "real": True}, "line 1: field natural"),
        ({"pair_id": "other", "real": True, "natural": True}, "pair other, which is not in"),
        ({"pair_id": pair_id, "real": None, "natural": None}, "no answers yet"),
    ):
        path.write_text(json.dumps(line))
        with pytest.raises(JudgeError, match=sentence):
            load_readings(sheet, [path])
    (tmp_path / "b").mkdir()
    with pytest.raises(AnswerFileError, match="answers of ana, and so does another file"):
        load_readings(sheet, [fill(sheet, path), fill(sheet, tmp_path / "b" / "ana.jsonl")])


def test_commands_draw_and_report_and_the_card_shows_the_results(pairs: Path, tmp_path: Path) -> None:
    data, sheet = tmp_path / "data", tmp_path / "sheet"
    write_pairs(load_pairs(pairs), data)
    done = run("audit", "sample", data, "--per-principle", "3", "--out", sheet)
    assert done.returncode == 0, done.stderr
    assert f"{sheet / 'sheet.jsonl'}: 18 pairs" in done.stdout
    empty = run("audit", "report", sheet, "--answers", sheet / "sheet.jsonl")
    assert empty.returncode == 2
    assert "Set real and natural" in " ".join(empty.stderr.split())
    ana, ben = fill(sheet, tmp_path / "ana.jsonl"), fill(sheet, tmp_path / "ben.jsonl", {5: {"natural": False}})
    shown = run("audit", "report", sheet, "--answers", ana, "--answers", ben, "--out", data)
    assert shown.returncode == 0, shown.stderr
    assert "Agreement of the readers" in shown.stdout
    assert "not natural" in shown.stdout
    assert "fewer than 15: collect more cases" in " ".join(shown.stdout.split())
    assert json.loads((data / "reading.json").read_text())["readers"] == ["ana", "ben"]
    export(data, tmp_path / "out", "sft", Options())
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| overall | 18 | 100.0 % [" in card
    assert "equal answers to 100 % (real), 94 % (natural)" in card
    wrong = run("audit", "report", data, "--answers", ana, "--answers", ben)
    assert "pass one file of answers" in " ".join(wrong.stderr.split())


def test_a_folder_without_single_pairs_is_an_error(tmp_path: Path) -> None:
    case = make_case()
    write_pairs(PairSet.of([case], [make_pair(case, violated=(1, 2))]), tmp_path / "multi")
    with pytest.raises(JudgeError, match="no pair violates one of P1, P2, P3, P4, P5, P6 alone"):
        write_sheet([tmp_path / "multi"], tmp_path / "sheet", per_principle=4, seed=0)
    write_pairs(sample_pairs(), tmp_path / "some")
    report = write_sheet([tmp_path / "some"], tmp_path / "sheet", per_principle=4, seed=0)
    assert report["by_principle"]["P1"] == {}
    assert sum(report["by_principle"]["P2"].values()) == 4
