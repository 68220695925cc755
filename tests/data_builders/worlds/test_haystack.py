"""The source `haystack`: valid pairs, a budget below the number of claims, and disjoint splits."""

import re
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
        assert name != "haystack" or all(t.reward and t.reward["r"] == 1.0 for _, t in made)
    assert min(hits["haystack"]) == 1.0
    assert sum(hits["haystack-undirected"]) / len(hits["haystack-undirected"]) < 0.5


def test_a_rationale_of_the_warm_up_names_what_it_found_and_says_p2_else() -> None:
    found = cases(30)
    hidden = [pair for case in found for pair in pairs_of(case) if pair.violated in ((2,), (4,))]
    writer = WRITERS.get("haystack-undirected")
    tokenizer, rejected = SafeTokenizer(load_tokenizer(RECIPE.model)), Counter[str]()
    right: dict[bool, list[bool]] = {True: [], False: []}
    for pair, t in rationales(PairSet.of(found, hidden), RECIPE.episode, tokenizer, rejected=rejected, writer=writer):
        assert t.judgment is not None
        assert t.judgment.comparison == pair.gold.comparison
        named = t.judgment.violated_principles
        said = re.search(r" (\w+) (\d) [AB] worse", t.turns[-1].text)
        assert said
        saw = said[1] in ("alike", "unlike")
        assert named == (int(said[2]),)
        assert (said[1] == "alike") == (pair.violated == (2,)) if saw else named == (2,)
        right[saw].append(named == pair.violated)
    assert not rejected
    assert len(right[True]) > 25
    assert 0.8 < sum(right[True]) / len(right[True]) < 1
    assert 0.4 < sum(right[False]) / len(right[False]) < 0.6


def test_a_short_case_can_be_read_whole() -> None:
    found = list(read(None, 6, 5, Counter(), source="haystack-short"))
    assert {case.source for case in found} == {"haystack-short"}
    assert all(16 <= len(facts_of(case.context)) <= 20 for case in found)
    recipe, rejected = load_recipe(RECIPES / "haystack" / "warmup-fc.yaml"), Counter[str]()
    data = PairSet.of(found, [pair for case in found for pair in pairs_of(case)])
    tokenizer, writer = SafeTokenizer(load_tokenizer(recipe.model)), WRITERS.get("haystack")
    made = list(rationales(data, recipe.episode, tokenizer, rejected=rejected, writer=writer))
    assert set(rejected) == {"writer_gave_up"}
    assert all(t.reward and t.reward["r"] == 1.0 and t.searches == 0 for _, t in made)


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
