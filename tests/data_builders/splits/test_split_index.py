from pathlib import Path

import pytest
from split_factories import folder, long_case, mini_folder, pairs_of

from data_builders.splits.index import Part, read_index, write_parts
from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import load_pairs


def test_parts_are_copied_line_by_line_in_order(tmp_path: Path) -> None:
    one, two = mini_folder(tmp_path / "one", 9), mini_folder(tmp_path / "two", 9, seed=1)
    index = read_index([one, two])
    chosen = index.pairs[::3]
    write_parts(index, {"some": Part.of(chosen), "none": Part.of([])}, tmp_path / "out")
    lines = [(path / "pairs.jsonl").read_text().splitlines(keepends=True) for path in (one, two)]
    assert (tmp_path / "out" / "some" / "pairs.jsonl").read_text() == "".join((lines[0] + lines[1])[::3])
    assert (tmp_path / "out" / "none" / "pairs.jsonl").read_text() == ""
    assert set(load_pairs(tmp_path / "out" / "some").cases) == {pair.case.case_id for pair in chosen}


def test_duplicates_across_folders_are_dropped_and_counted(tmp_path: Path) -> None:
    cases = [long_case(n) for n in range(3)]
    pairs = [pair for case in cases for pair in pairs_of(case)]
    one = folder(tmp_path / "one", cases[:2], pairs[:14])
    two = folder(tmp_path / "two", cases[1:], pairs[10:])
    index = read_index([one, two])
    assert len(index.pairs) == len({pair.pair_id for pair in pairs}) == 21
    assert dict(index.repeated) == {"cases": 1, "pairs": 4}
    seen: list[str] = []
    nothing = read_index([one, two], lambda pair, case: seen.append(pair.pair_id) is not None)
    assert (len(nothing.pairs), len(seen), nothing.repeated["pairs"]) == (0, 21, 4)


def test_conflicting_cases_are_an_error(tmp_path: Path) -> None:
    case = long_case(0)
    one = folder(tmp_path / "one", [case], pairs_of(case))
    two = folder(tmp_path / "two", [case.model_copy(update={"license": "MIT"})], pairs_of(case))
    with pytest.raises(JudgeError, match=f"both hold case {case.case_id}, with another source, license or meta"):
        read_index([one, two])
    with pytest.raises(JudgeError, match="the same folder is given twice"):
        read_index([one, tmp_path / "two" / ".." / "one"])


def test_groups_are_separate_per_domain() -> None:
    assert long_case(1, group="7").group == long_case(2, group="7").group == "legal/7"
    assert long_case(1).group == long_case(1).case_id
