"""The source `haystack`: valid pairs, a budget below the number of claims, and disjoint splits."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import RECIPES

from data_builders.build import write_pairs
from data_builders.haystack_splits import VARIANTS, build_splits, is_kept, shuffled_labels
from data_builders.perturb.rules.engine import perturb
from data_builders.rationales import WRITERS
from data_builders.rationales.rules import rationales
from data_builders.worlds.haystack.rationales import claims_of
from data_builders.worlds.haystack.source import SEEDS, check_disjoint, contents, read
from data_builders.worlds.mini.source import facts_of
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.recipe import load_recipe

RECIPE = load_recipe(RECIPES / "haystack" / "warmup.yaml")
BUDGET = RECIPE.episode.budget


def cases(count: int, seed: int = 5) -> list[Case]:
    return list(read(None, count, seed, Counter()))


def pairs_of(case: Case) -> list[ReasoningPair]:
    pairs = perturb(case, variants=VARIANTS, rule_set="haystack", abstained=Counter())
    return [pair for pair in pairs if is_kept(pair)]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_only_the_case_tells_which_claim_of_p2_and_p4_is_right(seed: int) -> None:
    case = cases(1, seed)[0]
    facts = facts_of(case.context)
    for pair in pairs_of(case):
        differing = [both for both in claims_of(pair).values() if both[0] != both[1]]
        if pair.violated in ((2,), (4,)):
            ((a, b),) = differing
            assert ((a in facts), (b in facts)) == ((True, False) if pair.preferred == "A" else (False, True))
            assert a.who == b.who
            assert (a.did == b.did) == (pair.violated == (2,))
        elif not {2, 4} & set(pair.violated):
            assert not differing


def test_every_rationale_is_right_and_keeps_to_the_budget() -> None:
    found = cases(12)
    data = PairSet.of(found, [pair for case in found for pair in pairs_of(case)])
    tokenizer = SafeTokenizer(load_tokenizer(RECIPE.model))
    hits = {}
    for name in ("haystack", "haystack-undirected", "haystack-careful"):
        rejected: Counter[str] = Counter()
        made = list(rationales(data, RECIPE.episode, tokenizer, rejected=rejected, writer=WRITERS.get(name)))
        assert set(rejected) == {"writer_gave_up"}
        assert len(made) == sum(len(pair.violated) == 1 for pair in data.pairs)
        hits[name] = [t.reward["evidence_hit"] for _, t in made if t.reward and "evidence_hit" in t.reward]
        assert max(t.searches for _, t in made) <= BUDGET.max_searches
    assert min(hits["haystack"]) == 1.0
    assert sum(hits["haystack-undirected"]) / len(hits["haystack-undirected"]) < 0.5


def test_splits_that_share_content_are_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    splits = build_splits(tmp_path, {"train": 3, "dev": 2})
    assert len({case_id for data in splits.values() for case_id in data.cases}) == 5
    same = {"train": contents(cases(3, SEEDS["train"])), "test": contents(cases(1, SEEDS["train"]))}
    with pytest.raises(JudgeError, match="share 1 case ids"):
        check_disjoint(same)
    some = {"triples of claims": {min(same["train"]["triples of claims"])}}
    with pytest.raises(JudgeError, match="base and train share 1 triples of claims"):
        check_disjoint({"base": some, "train": same["train"]})


def test_shuffled_labels_keep_the_texts_and_lose_the_labels(tmp_path: Path) -> None:
    found = cases(30)
    data = PairSet.of(found, [pair for case in found for pair in pairs_of(case)])
    shuffled = shuffled_labels(data, 0)
    same = 0
    for pair, other in zip(data.pairs, shuffled.pairs, strict=True):
        assert (pair.reasoning_a, pair.reasoning_b) == (other.reasoning_a, other.reasoning_b)
        same += pair.preferred == other.preferred
    assert 0.4 < same / len(data.pairs) < 0.6
    write_pairs(shuffled, tmp_path)
    assert list(load_pairs(tmp_path).pairs) == list(shuffled.pairs)
