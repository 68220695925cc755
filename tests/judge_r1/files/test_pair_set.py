from pathlib import Path

import pytest
from factories import make_case, make_pair, mini_pairs

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.files.arrays.stored_records import CACHED_RECORDS
from judge_r1.files.jsonl import BadRecord, ids_with_offsets, lines_at, read_with_offsets, write_jsonl
from judge_r1.files.pair_set import (
    CASES_FILE,
    PAIRS_FILE,
    load_pairs,
    open_cases,
    open_pairs,
    stored_pairs,
)


def folder(at: Path, cases: list[Case], pairs: list[ReasoningPair]) -> Path:
    write_jsonl(at / CASES_FILE, cases)
    write_jsonl(at / PAIRS_FILE, pairs)
    return at


def test_a_pair_without_its_case_raises(tmp_path: Path) -> None:
    case, other = make_case(), make_case("other.")
    with pytest.raises(JudgeError, match=rf"names case {case.case_id}, which cases\.jsonl does not hold"):
        load_pairs(folder(tmp_path, [other], [make_pair(case)]))


def test_a_pair_with_another_reference_raises(tmp_path: Path) -> None:
    """The pair is consistent, but its better reasoning is not the reference of its case."""
    case = make_case()
    own = make_pair(case)
    forged = ReasoningPair.of(
        case.model_copy(update={"reference": "1. ana paid 33."}), own.flawed, variant=1, origin=own.origin, seed=0
    )
    with pytest.raises(JudgeError, match="prefers a reasoning that is not its case's reference"):
        load_pairs(folder(tmp_path, [case], [forged]))


def test_a_pair_with_another_domain_raises(tmp_path: Path) -> None:
    case = make_case()
    with pytest.raises(JudgeError, match="has domain 'medical', its case 'legal'"):
        load_pairs(folder(tmp_path, [case], [make_pair(case).model_copy(update={"domain": "medical"})]))


def test_repeated_ids_and_empty_files_raise(tmp_path: Path) -> None:
    case = make_case()
    pair = make_pair(case)
    with pytest.raises(JudgeError, match="line 2: case_id"):
        load_pairs(folder(tmp_path, [case, case], [pair]))
    with pytest.raises(JudgeError, match="line 2: pair_id"):
        load_pairs(folder(tmp_path, [case], [pair, make_pair(case, seed=1)]))
    with pytest.raises(JudgeError, match="has no pairs"):
        load_pairs(folder(tmp_path, [case], []))


def test_another_type_of_data_set_is_named(tmp_path: Path) -> None:
    for name in ("manipulations.jsonl", "documents.jsonl"):
        (tmp_path / name).write_text("{}\n")
    for read in (load_pairs, open_pairs):
        with pytest.raises(JudgeError, match=r"holds documents.jsonl, manipulations.jsonl and no cases.jsonl: give"):
            read(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / CASES_FILE).touch()
    with pytest.raises(JudgeError, match=r"; folders with cases.jsonl below .*: .*below$"):
        open_pairs(tmp_path)


@pytest.mark.parametrize("missing", [CASES_FILE, PAIRS_FILE])
def test_a_missing_file_raises(tmp_path: Path, missing: str) -> None:
    case = make_case()
    folder(tmp_path, [case], [make_pair(case)])
    (tmp_path / missing).unlink()
    with pytest.raises(JudgeError, match=f"{missing} cannot be read"):
        load_pairs(tmp_path)


def test_offsets_are_bytes_for_any_text_and_line_ends(tmp_path: Path) -> None:
    cases = [make_case(f"naïve – {n} 😀.") for n in range(3)]
    write_jsonl(tmp_path / "a.jsonl", cases)
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    (tmp_path / "b.jsonl").write_bytes(f"{lines[0]}\r\n\n{lines[1]}\n{lines[2]}".encode())
    offsets = [offset for offset, _ in read_with_offsets(tmp_path / "b.jsonl", Case)]
    again = [Case.model_validate_json(line) for line in lines_at(tmp_path / "b.jsonl", offsets[::-1])]
    assert again == cases[::-1]
    assert all(line.endswith("\n") for line in lines_at(tmp_path / "b.jsonl", offsets))


def test_a_stored_pair_is_checked_against_its_case(tmp_path: Path) -> None:
    case, other = make_case(), make_case("other.")
    folder(tmp_path, [other], [make_pair(case)])
    with pytest.raises(JudgeError, match=rf"names case {case.case_id}, which cases\.jsonl does not hold"):
        list(stored_pairs(tmp_path, open_cases(tmp_path)))


def test_a_folder_without_pairs_raises(tmp_path: Path) -> None:
    folder(tmp_path, [make_case()], [])
    with pytest.raises(JudgeError, match="has no pairs"):
        list(stored_pairs(tmp_path, open_cases(tmp_path)))


@pytest.mark.parametrize("checked", [False, True])
def test_an_opened_folder_equals_the_loaded_one_and_keeps_no_text(tmp_path: Path, checked: bool) -> None:
    data = mini_pairs(CACHED_RECORDS + 30)
    folder(tmp_path, list(data.cases.values()), list(data.pairs))
    loaded, opened = load_pairs(tmp_path), open_pairs(tmp_path, checked=checked)
    assert dict(opened.cases) == dict(loaded.cases)
    assert list(opened.pairs) == list(loaded.pairs)
    assert opened.pairs[-3:] == loaded.pairs[-3:]
    assert dict(opened.by_id()) == loaded.by_id()
    assert dict(opened.texts) == {case_id: case.context for case_id, case in loaded.cases.items()}
    assert opened.texts.folder == tmp_path
    assert loaded.texts.folder is None
    assert "nobody" not in opened.texts
    with pytest.raises(KeyError):
        opened.texts["nobody"]


def test_an_opened_folder_is_checked_as_a_loaded_one(tmp_path: Path) -> None:
    case, other = make_case(), make_case("other.")
    folder(tmp_path, [other], [make_pair(case)])
    with pytest.raises(JudgeError, match=rf"names case {case.case_id}, which cases\.jsonl does not hold"):
        open_pairs(tmp_path)


def test_a_file_that_changed_below_an_opened_folder_is_reported(tmp_path: Path) -> None:
    cases = [make_case(f"{name}.") for name in ("ana", "ben")]
    folder(tmp_path, cases, [make_pair(case) for case in cases])
    opened = open_pairs(tmp_path, checked=True)
    write_jsonl(tmp_path / CASES_FILE, cases[::-1])
    with pytest.raises(JudgeError, match=f"byte 0 no longer holds case_id {cases[0].case_id}: the file was changed"):
        opened.texts[cases[0].case_id]


def test_an_id_that_is_no_hash_is_an_error(tmp_path: Path) -> None:
    write_jsonl(tmp_path / CASES_FILE, [{"case_id": "one"}])
    write_jsonl(tmp_path / PAIRS_FILE, [{"case_id": "one"}])
    with pytest.raises(JudgeError, match=r"cases\.jsonl, byte 0: the id 'one' is not 16 hexadecimal digits"):
        open_pairs(tmp_path, checked=True)
    with pytest.raises(BadRecord, match=r"pairs\.jsonl, line 1: not a record with pair_id"):
        list(ids_with_offsets(tmp_path / PAIRS_FILE, "pair_id"))
