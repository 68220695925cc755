from pathlib import Path

import pytest
from factories import make_case, make_pair, mini_pairs
from real_tokenizers import awkward
from turn_recipes import turn_recipe

from judge_r1.core.pair_set import PairSet
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.data.single_turn_data import AnswerDoesNotFit, judgment_traces, preference_rows
from judge_r1.training.data.targets import answer, wrong_judgment
from judge_r1.training.recipe import Recipe

HF_TOKENIZER = load_tokenizer("bundled:tiny")
TOKENIZER, EOS = SafeTokenizer(HF_TOKENIZER), HF_TOKENIZER.eos_token_id
DATA = mini_pairs(8)


def bare(text: str) -> str:
    """Without white space, which the tiny tokenizer does not keep."""
    return "".join(text.split())


def said(ids: list[int]) -> str:
    return bare(TOKENIZER.decode(ids))


def recipe(stage: str, *changes: str) -> Recipe:
    return turn_recipe(stage, Path("data"), *changes)


@pytest.mark.parametrize("form", ["json", "table6"])
def test_gold_judgments_score_1_and_are_what_export_writes(form: str) -> None:
    made = recipe(
        "sft", f"sft.form={form}", *(["episode.prompt=table6", "episode.prompt_tokens=4000"] * (form == "table6"))
    )
    traces = judgment_traces(DATA, made, TOKENIZER, EOS)
    assert len(traces) == len(DATA.pairs)
    golds = {bare(answer(pair.gold, "table6" if form == "table6" else "json")) for pair in DATA.pairs}
    for trace in traces:
        assert trace.reward is not None
        assert trace.reward["r"] == 1.0
        written = [token for token, own in zip(trace.token_ids, trace.loss_mask, strict=True) if own]
        assert said([token for token in written if token != EOS]) in golds
        assert "<search>" not in TOKENIZER.decode(trace.prompt_ids)


def test_so_many_judgments_as_wanted_in_the_order_of_the_seed() -> None:
    everything = judgment_traces(DATA, recipe("sft"), TOKENIZER, EOS)
    assert judgment_traces(DATA, recipe("sft", "sft.traces=3"), TOKENIZER, EOS) == everything[:3]
    assert judgment_traces(DATA, recipe("sft", "seed=1"), TOKENIZER, EOS) != everything


def test_what_does_not_fit_is_refused_and_never_cut() -> None:
    with pytest.raises(PromptTooLong, match="over prompt_tokens 20"):
        judgment_traces(DATA, recipe("sft", "episode.prompt_tokens=20"), TOKENIZER, EOS)
    with pytest.raises(AnswerDoesNotFit, match=r"ends an episode as .*: raise episode\.budget\.response_tokens"):
        judgment_traces(DATA, recipe("sft", "episode.budget.response_tokens=5"), TOKENIZER, EOS)
    for form in ("judgment", "reasoning"):
        with pytest.raises(PromptTooLong, match="over prompt_tokens 20"):
            list(
                preference_rows(
                    DATA, recipe("dpo", "episode.prompt_tokens=20", f"dpo.form={form}"), TOKENIZER, EOS, None
                )
            )
    reasoning = recipe("dpo", "dpo.form=reasoning", "episode.prompt_tokens=4000")
    with pytest.raises(PromptTooLong, match="the model's context has 100"):
        list(preference_rows(DATA, reasoning, TOKENIZER, EOS, 100))


def test_a_judgment_is_preferred_to_a_wrong_one_of_the_same_pair() -> None:
    made = recipe("dpo")
    traces = {tuple(t.prompt_ids) for t in judgment_traces(DATA, recipe("sft"), TOKENIZER, EOS)}
    for pair, row in zip(DATA.pairs, preference_rows(DATA, made, TOKENIZER, EOS, None), strict=True):
        assert tuple(row["prompt_ids"]) in traces  # the prompt that SFT trains on, and that the judge is asked with
        assert row["chosen_ids"][-1] == row["rejected_ids"][-1] == EOS
        assert said(row["chosen_ids"][:-1]) == bare(answer(pair.gold, "json"))
        assert said(row["rejected_ids"][:-1]) == bare(answer(wrong_judgment(pair, made.seed), "json"))
        assert row["length"] == len(row["prompt_ids"]) + max(len(row["chosen_ids"]), len(row["rejected_ids"]))


def test_a_reasoning_is_preferred_to_the_flawed_one_and_nobody_is_told_which() -> None:
    made = recipe("dpo", "dpo.form=reasoning", "episode.prompt_tokens=4000")
    for pair, row in zip(DATA.pairs, preference_rows(DATA, made, TOKENIZER, EOS, None), strict=True):
        assert said(row["chosen_ids"][:-1]) == bare(pair.reference)
        assert said(row["rejected_ids"][:-1]) == bare(pair.flawed)
        assert bare(pair.flawed) not in said(row["prompt_ids"])


def test_reasonings_forge_no_token() -> None:
    tokenizer = awkward()
    forged = " ".join([*tokenizer.get_added_vocab(), "<answer>{}</answer>"])
    case = make_case(reference=f"1. ana paid 34, so {forged}.")
    data = PairSet.of([case], [make_pair(case, f"1. ana paid 35, so {forged}.")])
    made = recipe("dpo", "dpo.form=reasoning", "episode.prompt_tokens=9000")
    (row,) = preference_rows(data, made, SafeTokenizer(tokenizer), tokenizer.eos_token_id, None)
    added = frozenset(tokenizer.added_tokens_decoder)
    assert added.isdisjoint(row["chosen_ids"][:-1])
    assert added.isdisjoint(row["rejected_ids"][:-1])
