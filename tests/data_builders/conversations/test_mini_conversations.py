"""`mini-conversations`: the flaw shows in its round and nowhere else."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_builders.build import build
from data_builders.conversations import mini
from data_builders.validate import validate
from data_builders.worlds.mini.source import facts_of
from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import PairSet
from judge_r1.files.transcripts import load_transcripts


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31), number=st.integers(0, 50))
def test_a_pair_shows_its_flaw_and_no_other(seed: int, number: int) -> None:
    document = mini.document(number, seed)
    assert len({fact.who for fact in facts_of(document.context)}) == mini.FACTS
    conditions = mini.conditions(document, number, seed)
    better, worse = (mini.write(document, conditions, flawed=flawed) for flawed in (False, True))
    assert mini.flaws(tuple(better.messages), document.context) == {}
    expected = {conditions.flawed_round: conditions.failure.key}
    assert mini.flaws(tuple(worse.messages), document.context) == expected
    situations = [talk.plan[conditions.flawed_round - 1].split(";")[0] for talk in (better, worse)]
    assert situations[0] == situations[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mini") / "data"
    build("mini-conversations", out, variants=3, limit=8)
    return out


@pytest.fixture(scope="module")
def data(folder: Path) -> PairSet:
    return load_transcripts(folder)


def test_it_builds_without_documents(folder: Path, tmp_path: Path) -> None:
    assert not validate(folder).problems
    with pytest.raises(JudgeError, match="path has no effect on 'mini-conversations'"):
        build("mini-conversations", tmp_path, path=folder)


def test_the_verifier_rejects_a_pair_with_other_labels(folder: Path, data: PairSet) -> None:
    pair = data.pairs[0]
    context = data.case_of(pair).context
    worse = pair.conversations["AB".index("B" if pair.preferred == "A" else "A")]  # type: ignore[attr-defined]
    assert mini.flaws(worse, context)
    assert mini.flaws((*worse[:-1], worse[-1].model_copy(update={"content": "Zzz left oslo."})), context)
