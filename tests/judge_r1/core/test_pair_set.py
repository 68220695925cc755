from pathlib import Path

import pytest
from factories import make_case, make_pair, mini_pairs

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, PairSet, load_pairs
from judge_r1.core.records import Case, ReasoningPair


def folder(at: Path, cases: list[Case], pairs: list[ReasoningPair]) -> Path:
    write_jsonl(at / CASES_FILE, cases)
    write_jsonl(at / PAIRS_FILE, pairs)
    return at


def test_a_folder_round_trips(tmp_path: Path) -> None:
    data = mini_pairs(10)
    loaded = load_pairs(folder(tmp_path, list(data.cases.values()), list(data.pairs)))
    assert (dict(loaded.cases), list(loaded.pairs)) == (dict(data.cases), list(data.pairs))
    pair = loaded.pairs[3]
    assert loaded.by_id()[pair.pair_id] is pair
    assert loaded.case_of(pair).reference == pair.reference
    assert loaded.texts[pair.case_id] == loaded.case_of(pair).context


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


@pytest.mark.parametrize("missing", [CASES_FILE, PAIRS_FILE])
def test_a_missing_file_raises(tmp_path: Path, missing: str) -> None:
    case = make_case()
    folder(tmp_path, [case], [make_pair(case)])
    (tmp_path / missing).unlink()
    with pytest.raises(JudgeError, match=f"{missing} cannot be read"):
        load_pairs(tmp_path)


def test_a_pair_set_in_memory() -> None:
    case = make_case()
    data = PairSet.of([case], [make_pair(case)])
    assert data.case_of(data.pairs[0]) is case
