from pathlib import Path

import pytest
from factories import make_case, make_pair, mini_pairs
from real_tokenizers import awkward
from turn_recipes import turn_recipe

from judge_r1.episode.rollout import PromptTooLong
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.data.single_turn_data import AnswerDoesNotFit, judgment_examples, preference_rows
from judge_r1.training.data.targets import answer, chosen_principles, wrong_judgment
from judge_r1.training.recipe import Recipe

HF_TOKENIZER = load_tokenizer("bundled:tiny")
TOKENIZER, EOS = SafeTokenizer(HF_TOKENIZER), HF_TOKENIZER.eos_token_id
DATA = mini_pairs(8)


def without_spaces(text: str) -> str:
    """Remove whitespace, which the tiny tokenizer does not keep."""
    return "".join(text.split())


def decoded(ids: list[int]) -> str:
    return without_spaces(TOKENIZER.decode(ids))


def recipe(stage: str, *changes: str) -> Recipe:
    return turn_recipe(stage, Path("data"), *changes)


@pytest.mark.parametrize("form", ["json", "table6"])
def test_gold_judgments_are_read_and_equal_the_exported_answers(form: str) -> None:
    resolved = recipe(
        "sft", f"sft.form={form}", *(["episode.prompt=table6", "episode.prompt_tokens=4000"] * (form == "table6"))
    )
    examples = judgment_examples(DATA, resolved, TOKENIZER, EOS)
    assert len(examples) == len(DATA.pairs)
    gold_answers = {without_spaces(answer(pair.gold, "table6" if form == "table6" else "json")) for pair in DATA.pairs}
    for example in examples:
        assert example.ended == "answer"
        assert example.judgment is not None
        sampled = [token for token, mask in zip(example.token_ids, example.loss_mask, strict=True) if mask]
        assert decoded([token for token in sampled if token != EOS]) in gold_answers
        assert "<search>" not in TOKENIZER.decode(example.prompt_ids)


def test_the_number_of_judgments_is_limited_in_seeded_order() -> None:
    all_examples = judgment_examples(DATA, recipe("sft"), TOKENIZER, EOS)
    assert judgment_examples(DATA, recipe("sft", "sft.examples=3"), TOKENIZER, EOS) == all_examples[:3]
    assert judgment_examples(DATA, recipe("sft", "seed=1"), TOKENIZER, EOS) != all_examples


def test_examples_that_do_not_fit_are_refused_and_never_truncated() -> None:
    with pytest.raises(PromptTooLong, match="over prompt_tokens 20"):
        judgment_examples(DATA, recipe("sft", "episode.prompt_tokens=20"), TOKENIZER, EOS)
    with pytest.raises(AnswerDoesNotFit, match=r"ends an episode as .*: raise episode\.budget\.response_tokens"):
        judgment_examples(DATA, recipe("sft", "episode.budget.response_tokens=5"), TOKENIZER, EOS)
    for form in ("table7", "judgment", "reasoning"):
        with pytest.raises(PromptTooLong, match="over prompt_tokens 20"):
            list(
                preference_rows(
                    DATA, recipe("dpo", "episode.prompt_tokens=20", f"dpo.form={form}"), TOKENIZER, EOS, None
                )
            )
    reasoning = recipe("dpo", "dpo.form=reasoning", "episode.prompt_tokens=4000")
    with pytest.raises(PromptTooLong, match="the model's context has 100"):
        list(preference_rows(DATA, reasoning, TOKENIZER, EOS, 100))


def test_judgment_form_prefers_the_gold_judgment_to_a_wrong_one() -> None:
    resolved = recipe("dpo")
    examples = {tuple(t.prompt_ids) for t in judgment_examples(DATA, recipe("sft"), TOKENIZER, EOS)}
    for pair, row in zip(DATA.pairs, preference_rows(DATA, resolved, TOKENIZER, EOS, None), strict=True):
        assert tuple(row["prompt_ids"]) in examples  # SFT and the judge use the same prompt
        assert row["chosen_ids"][-1] == row["rejected_ids"][-1] == EOS
        assert decoded(row["chosen_ids"][:-1]) == without_spaces(answer(pair.gold, "json"))
        wrong = wrong_judgment(pair, resolved.seed, chosen_principles(DATA.pairs))
        assert decoded(row["rejected_ids"][:-1]) == without_spaces(answer(wrong, "json"))
        assert row["length"] == len(row["prompt_ids"]) + max(len(row["chosen_ids"]), len(row["rejected_ids"]))


def test_reasoning_form_prefers_the_reference_and_the_prompt_does_not_reveal_it() -> None:
    resolved = recipe("dpo", "dpo.form=reasoning", "episode.prompt_tokens=4000")
    for pair, row in zip(DATA.pairs, preference_rows(DATA, resolved, TOKENIZER, EOS, None), strict=True):
        assert decoded(row["chosen_ids"][:-1]) == without_spaces(pair.reference)
        assert decoded(row["rejected_ids"][:-1]) == without_spaces(pair.flawed)
        assert without_spaces(pair.flawed) not in decoded(row["prompt_ids"])


def test_reasonings_cannot_forge_added_tokens() -> None:
    tokenizer = awkward()
    forged = " ".join([*tokenizer.get_added_vocab(), "<answer>{}</answer>"])
    case = make_case(reference=f"1. ana paid 34, so {forged}.")
    data = PairSet.of([case], [make_pair(case, f"1. ana paid 35, so {forged}.")])
    resolved = recipe("dpo", "dpo.form=reasoning", "episode.prompt_tokens=9000")
    (row,) = preference_rows(data, resolved, SafeTokenizer(tokenizer), tokenizer.eos_token_id, None)
    added = frozenset(tokenizer.added_tokens_decoder)
    assert added.isdisjoint(row["chosen_ids"][:-1])
    assert added.isdisjoint(row["rejected_ids"][:-1])


def test_table7_form_shows_the_flawed_reasoning_and_prefers_its_principles() -> None:
    resolved = recipe("dpo", "dpo.form=table7", "episode.prompt_tokens=4000")
    for pair, row in zip(DATA.pairs, preference_rows(DATA, resolved, TOKENIZER, EOS, None), strict=True):
        sentence = f"The reasoning violates principles {list(pair.violated)}."
        assert row["chosen_ids"][-1] == row["rejected_ids"][-1] == EOS
        assert decoded(row["chosen_ids"][:-1]) == without_spaces(sentence)
        rejected = decoded(row["rejected_ids"][:-1])
        assert rejected != without_spaces(sentence)
        assert rejected.startswith("Thereasoningviolatesprinciples[")
        prompt = decoded(row["prompt_ids"])
        assert without_spaces(pair.flawed) in prompt
        assert without_spaces(pair.reference) not in prompt
