"""Blind sheets: one pair a case of P2 and P4, without case and label; answers are counted with and without a reason."""

import json
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from audit_factories import sample_pairs
from command_server import run
from factories import make_case, make_pair, mini_pairs
from rich.console import Console

from data_builders.audit.annotation.record_log import AnswerFileError
from data_builders.audit.annotation.shares import EVERYONE, OVERALL
from data_builders.audit.reading.answers import load_blind
from data_builders.audit.reading.blind import BlindItem, blind_item, draw_one_per_group, item_id_of, write_blind_sheet
from data_builders.audit.reading.blind_results import BlindRow, blind_rows, print_blind
from data_builders.audit.reading.sample import candidates
from data_builders.build import write_pairs
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import ReasoningPair


@pytest.fixture
def sheet(pairs: Path, tmp_path: Path) -> Path:
    write_blind_sheet([pairs], tmp_path / "sheet", per_principle=6, seed=0)
    return tmp_path / "sheet"


def items(sheet: Path) -> list[BlindItem]:
    return list(read_jsonl(sheet / "blind.jsonl", BlindItem, unique="item_id"))


def answer(sheet: Path, path: Path, right: int, reasons: int) -> Path:
    """Answers of which the first `right` are right and the first `reasons` have a reason."""
    preferred = {item_id_of(pair): pair.preferred for pair in load_pairs(sheet).pairs}
    lines = []
    for index, item in enumerate(items(sheet)):
        better = preferred[item.item_id]
        worse = ("B" if better == "A" else "A") if index < right else better
        reason = "the rest says so" if index < reasons else (None, "", " ")[index % 3]
        lines.append(json.dumps(item.model_dump(mode="json", by_alias=True) | {"worse": worse, "reason": reason}))
    path.write_text("\n".join(lines))
    return path


def rows(sheet: Path, *files: Path) -> dict[tuple[str, str], BlindRow]:
    return {(row.reader, row.group): row for row in blind_rows(*load_blind(sheet, files))}


def test_a_case_has_one_pair_and_the_principles_take_turns() -> None:
    found = list(candidates([mini_pairs(300)], 0))
    drawn = draw_one_per_group(found, 6)
    assert Counter(c.principle for c in drawn) == {2: 6, 4: 6}
    assert [c.order for c in drawn] == sorted(c.order for c in drawn)
    assert len({c.case_id for c in drawn}) == 12
    for principle in (2, 4):
        assert set(Counter(c.domain for c in drawn if c.principle == principle).values()) == {2}
        assert set(Counter(c.preferred for c in drawn if c.principle == principle).values()) == {3}
    assert draw_one_per_group(found, 6) == drawn != draw_one_per_group(list(candidates([mini_pairs(300)], 1)), 6)
    everything = draw_one_per_group(found, 10_000)
    assert len(everything) == len({c.case_id for c in found if c.principle in {2, 4}})


def test_cases_of_one_paper_have_one_pair() -> None:
    cases = [make_case(f"ana paid {n}.", meta={"group": "a paper"}) for n in range(3)]
    single = [make_pair(case, "1. ana paid 90, so this counts.", violated=(2,)) for case in cases]
    assert len(draw_one_per_group(list(candidates([PairSet.of(cases, single)], 0)), 3)) == 1


def test_a_principle_goes_on_when_the_other_has_no_case_left() -> None:
    cases = [make_case(f"ana paid {n}.") for n in range(5)]
    single = [make_pair(case, "1. ana paid 90, so this counts.", violated=(2,)) for case in cases[1:]]
    single.append(make_pair(cases[0], "1. ana paid 91, so this counts.", violated=(4,)))
    drawn = draw_one_per_group(list(candidates([PairSet.of(cases, single)], 0)), 4)
    assert Counter(c.principle for c in drawn) == {2: 4, 4: 1}


@pytest.mark.parametrize("better", ["A", "B"])
def test_a_line_shows_both_sides_and_not_the_label(better: str) -> None:
    case = make_case(reference="1. ana paid 34 crowns. 2. so this counts.")
    pair = make_pair(case, "1. ana paid 91 crowns. 2. so this counts.").placed("A" if better == "A" else "B")
    item = blind_item(1, pair, case)
    sides = ("34", "91") if better == "A" else ("91", "34")
    assert item.worse is None
    for side, value in zip("AB", sides, strict=True):
        assert f"{side}: " in item.text
        assert value in item.text
    assert restored(item.text) == (pair.reasoning_a, pair.reasoning_b)
    shown = item.model_dump_json(exclude={"text"})
    assert not any(secret in shown for secret in (pair.pair_id, case.case_id, case.context))
    assert not {"preferred", "violated", "principle"} & set(item.model_dump())


def restored(text: str) -> tuple[str, str]:
    before, rest = text.split("⟦A: ")
    changed, after = rest.split("⟧")
    a, b = changed.split(" | B: ")
    return before + a + after, before + b + after


def test_every_line_of_a_sheet_gives_back_both_reasonings(sheet: Path) -> None:
    data = {item_id_of(pair): pair for pair in load_pairs(sheet).pairs}
    for item in items(sheet):
        pair = data[item.item_id]
        assert restored(item.text) == (pair.reasoning_a, pair.reasoning_b)
    assert len(items(sheet)) == 12


def test_answers_are_counted_by_group_with_and_without_a_reason(sheet: Path, tmp_path: Path) -> None:
    found = rows(
        sheet, answer(sheet, tmp_path / "ana.jsonl", 12, 8), answer(sheet, tmp_path / "ben.jsonl", right=3, reasons=0)
    )
    ana, ben = found["ana", OVERALL], found["ben", OVERALL]
    assert ana.reasoned is not None
    assert ana.guessed is not None
    assert (ana.pairs, ana.right.share, ana.reasoned.n, ana.guessed.n) == (12, 1.0, 8, 4)
    assert (ben.right.share, ben.reasoned) == (0.25, None)
    assert found[EVERYONE, OVERALL].right.n == 24
    assert found[EVERYONE, OVERALL].right.share == pytest.approx(15 / 24)
    assert found["ana", "P2"].pairs == found["ana", "P4"].pairs == 6


def test_operators_have_rows_where_a_principle_has_several(tmp_path: Path) -> None:
    cases = [make_case(f"ana paid {n}.") for n in range(4)]
    flaws = [(2, "number"), (2, "[/date]"), (2, "number"), (4, "statement")]
    pairs = [with_operator(make_pair(case, violated=(p,)), name) for case, (p, name) in zip(cases, flaws, strict=True)]
    write_pairs(PairSet.of(cases, pairs), tmp_path / "pairs")
    write_blind_sheet([tmp_path / "pairs"], tmp_path / "sheet", per_principle=3, seed=0)
    found = rows(tmp_path / "sheet", answer(tmp_path / "sheet", tmp_path / "ana.jsonl", 4, 0))
    assert {group: row.pairs for (_, group), row in found.items()} == {
        "P2": 3, "P2 [/date]": 1, "P2 number": 2, "P4": 1, OVERALL: 4
    }  # fmt: skip
    out = StringIO()
    print_blind(load_pairs(tmp_path / "sheet"), list(found.values()), Console(file=out, width=160))
    assert "P2 [/date]" in out.getvalue()


def with_operator(pair: ReasoningPair, name: str) -> ReasoningPair:
    flaw = pair.origin.flaws[0].model_copy(update={"operator": name})
    return pair.model_copy(update={"origin": pair.origin.model_copy(update={"flaws": (flaw,)})})


def test_unread_pairs_do_not_count_and_wrong_answers_are_errors(sheet: Path, tmp_path: Path) -> None:
    path, item_id = tmp_path / "ana.jsonl", items(sheet)[0].item_id
    for line, sentence in (
        ({"item_id": item_id, "worse": "C"}, "ana.jsonl, line 1: field worse"),
        ({"item_id": "other", "worse": "A"}, "pair other, which is not in"),
        ({"item_id": item_id, "worse": None}, 'no answers yet. Set worse to "A" or "B" in a copy of'),
    ):
        path.write_text(json.dumps(line))
        with pytest.raises(JudgeError, match=sentence):
            load_blind(sheet, [path])
    path.write_text(json.dumps({"item_id": item_id, "worse": "A"}))
    assert rows(sheet, path)["ana", OVERALL].pairs == 1
    (tmp_path / "b").mkdir()
    with pytest.raises(AnswerFileError, match="answers of ana, and so does another file"):
        load_blind(sheet, [path, answer(sheet, tmp_path / "b" / "ana.jsonl", 1, 0)])


def test_commands_draw_and_report_and_no_page_shows_the_case(pairs: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet"
    done = run("audit", "sample", pairs, "--blind", "--per-principle", "4", "--out", sheet)
    assert done.returncode == 0, done.stderr
    assert f"{sheet / 'blind.jsonl'}: 8 pairs" in done.stdout
    ana = answer(sheet, tmp_path / "ana.jsonl", 6, 2)
    shown = run("audit", "report", sheet, "--answers", ana)
    assert shown.returncode == 0, shown.stderr
    assert "75.0 % [" in shown.stdout
    results = json.loads((sheet / "blind_results.json").read_text())
    last = results["rows"][-1]
    assert sum(line["right"] for line in results["answers"]) == 6
    assert [line["pair_id"] for line in results["answers"]] == [pair.pair_id for pair in load_pairs(sheet).pairs]
    assert Counter(line["reason"] for line in results["answers"])["the rest says so"] == 2
    assert (last["reader"], last["group"], last["pairs"], last["right"]["share"]) == ("ana", "overall", 8, 0.75)
    few = run("audit", "sample", pairs, "--blind", "--per-principle", "5000", "--out", tmp_path / "few")
    assert "of 5000; a case or paper gives one pair at most" in " ".join(few.stdout.split())
    page = run("audit", "serve", sheet)
    assert page.returncode == 2
    assert "a page would show the case: give readers blind.jsonl alone" in " ".join(page.stderr.split())
    for more in ([], ["--blind"]):
        refused = run("audit", "sample", pairs, *more, "--out", sheet)
        assert refused.returncode == 2
        assert "holds pairs already, maybe a sheet with answers: write to another folder" in " ".join(
            refused.stderr.split()
        )


def test_a_folder_without_hidden_flaws_is_an_error(tmp_path: Path) -> None:
    case = make_case()
    write_pairs(PairSet.of([case], [make_pair(case, violated=(1,))]), tmp_path / "logic")
    with pytest.raises(JudgeError, match="no pair violates one of P2, P4 alone"):
        write_blind_sheet([tmp_path / "logic"], tmp_path / "sheet", per_principle=4, seed=0)
    write_pairs(sample_pairs(), tmp_path / "some")
    assert write_blind_sheet([tmp_path / "some"], tmp_path / "sheet", per_principle=4, seed=0)["pairs"] > 0
