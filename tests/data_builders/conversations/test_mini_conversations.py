"""`mini-conversations`: the flaw shows in its round and nowhere else, and the writers' traces find it."""

import re
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import RECIPES

from data_builders.build import build
from data_builders.conversations import mini
from data_builders.rationales.base import WRITERS
from data_builders.rationales.mini_conversations import undirected, write_mini_conversations
from data_builders.rationales.rules import traces
from data_builders.sources.mini import facts_of
from data_builders.validate import validate
from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PairSet
from judge_r1.core.transcripts import load_transcripts
from judge_r1.core.verdicts import LocatedVerdict
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.recipe import load_recipe

RECIPE = load_recipe(RECIPES / "conversations" / "mini" / "warmup.yaml")


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
    with pytest.raises(JudgeError, match="leave --path out"):
        build("mini-conversations", tmp_path, path=folder)


def test_the_verifier_rejects_a_pair_with_other_labels(folder: Path, data: PairSet) -> None:
    pair = data.pairs[0]
    context = data.case_of(pair).context
    worse = pair.conversations["AB".index("B" if pair.preferred == "A" else "A")]  # type: ignore[attr-defined]
    assert mini.flaws(worse, context)
    assert mini.flaws((*worse[:-1], worse[-1].model_copy(update={"content": "Zzz left oslo."})), context)


def _traces(data: PairSet, writer: str) -> list[tuple[int, bool]]:
    """The number of searches of each trace, and whether it has read the flawed turn's record."""
    tokenizer, rejected = SafeTokenizer(load_tokenizer(RECIPE.model)), Counter[str]()
    made = list(traces(data, RECIPE.episode, tokenizer, rejected=rejected, writer=WRITERS.get(writer)))
    assert not rejected
    found = []
    for pair, trajectory in made:
        assert trajectory.judgment is not None
        assert trajectory.judgment.verdict == pair.gold.verdict
        assert trajectory.reward is not None
        assert trajectory.reward["r"] == 1.0
        text = tokenizer.decode(trajectory.token_ids)
        found.append((trajectory.searches, re.search(r" (?:no|differs) [AB] worse", text) is not None))
    return found


def test_careful_traces_find_the_flaw_and_undirected_ones_often_miss_it(data: PairSet) -> None:
    careful, careless = (_traces(data, name) for name in ("mini-conversations-careful", "mini-conversations"))
    assert all(found for _, found in careful)
    assert 0.1 < sum(found for _, found in careless) / len(careless) < 0.8
    assert len({searches for searches, _ in careless}) > 2


def test_what_is_checked_does_not_depend_on_the_flaw(data: PairSet) -> None:
    pair = data.pairs[0]
    turns = [(side, number) for side in "AB" for number in (1, 2)]
    other = pair.model_copy(update={"failure": "evasion", "flawed_round": 1})
    assert undirected(pair, turns, 4) == undirected(other, turns, 4)


def test_a_writer_gives_up_without_searches(data: PairSet) -> None:
    pair = data.pairs[0]
    config = RECIPE.episode.model_copy(update={"search": False})
    write = partial(write_mini_conversations, choose=undirected)
    assert next(write(data.case_of(pair), pair, config), None) is None
    assert isinstance(pair.gold.verdict, LocatedVerdict)
