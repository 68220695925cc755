"""The language-model reader scores as a plain forward pass does, and finds what is unlikely."""

from functools import partial

import pytest
import torch
from planted_pairs import pairs_of

from data_builders.audit.shortcut_probe import zero_shot_likelihood
from data_builders.audit.shortcuts import audit_shortcuts, likelihood_sample
from data_builders.text_units import likelihood
from data_builders.text_units.likelihood import LikelihoodReader, TokenScores, likelihood_features, pair_likelihoods
from judge_r1.models import hub


@pytest.fixture(scope="module")
def reader() -> LikelihoodReader:
    return LikelihoodReader("bundled:tiny")


TEXTS = [
    "the paper cites 3 of 40 trials and then leaves",
    "the paper cites 3 of 40 trials and then stays",
    "the paper",
    "a different text from its first word",
    "the paper cites 3 of 40 trials and then leaves",
    "",
    "the paper cites 4 of 40 trials and then leaves, but later",
    "the paper cites 3 of 40 trials and then leaves it",
]


def plain(reader: LikelihoodReader, text: str) -> TokenScores:
    """The scores of a text that the model reads alone."""
    ids = reader._tokenizer(text, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logits = reader._model(torch.tensor([[reader._start, *ids[:-1]]])).logits[0].float()
    return TokenScores(tuple(ids), tuple(logits.log_softmax(-1)[range(len(ids)), ids].tolist()))


def assert_equal(found: list[TokenScores], expected: list[TokenScores]) -> None:
    assert [scores.ids for scores in found] == [scores.ids for scores in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


@pytest.mark.parametrize("chunk", [likelihood.CHUNK, 12, 0])
def test_scores_equal_a_plain_forward_pass(
    reader: LikelihoodReader, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likelihood, "CHUNK", chunk)
    assert_equal(reader.read(TEXTS), [plain(reader, text) for text in TEXTS])
    assert_equal(reader.read(["", *TEXTS]), [plain(reader, text) for text in ["", *TEXTS]])


def test_a_branch_of_one_token_stands_beside_a_long_one(reader: LikelihoodReader) -> None:
    sentence = "The paper cites 3 of 40 trials and then leaves. "
    texts = [sentence * 30, "A" + (sentence * 30)[3:], sentence * 29 + "9"]
    assert_equal(reader.read(texts), [plain(reader, text) for text in texts])


def test_a_model_whose_attention_cannot_branch_reads_the_same(
    reader: LikelihoodReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = reader.read(TEXTS)
    monkeypatch.setattr(hub, "load_model", partial(hub.load_model, attention="eager"))
    other = LikelihoodReader("bundled:tiny")
    assert not other._can_branch
    assert_equal(other.read(TEXTS), expected)


def test_features_are_differences_and_turn_their_sign_with_the_sides() -> None:
    one = TokenScores((1, 2, 3, 4), (-1.0, -2.0, -3.0, -4.0))
    other = TokenScores((1, 5, 6, 4), (-1.0, -6.0, -2.0, -5.0))
    features = likelihood_features(one, other)
    assert features == {
        "log-likelihood": 4.0,
        "mean log-likelihood": 1.0,
        "mean log-likelihood of the change": 1.5,
        "least likely token of the change": 3.0,
    }
    assert likelihood_features(other, one) == {name: -value for name, value in features.items()}


def test_equal_texts_have_no_differences() -> None:
    one = TokenScores((1, 2), (-1.0, -2.0))
    assert set(likelihood_features(one, one).values()) == {0.0}


def test_an_unlikely_word_is_found_and_flagged(reader: LikelihoodReader) -> None:
    pairs = pairs_of(40, {("legal", 2): "zqx xzq qzx"})
    differences = pair_likelihoods(pairs, reader)
    assert set(differences) == {pair.pair_id for pair in pairs}
    result = zero_shot_likelihood("P2", pairs, differences)[0]
    assert result.probe == "likelier text"
    assert result.accuracy > 0.9
    audit = audit_shortcuts(pairs, language_model="bundled:tiny", differences=differences)
    flagged = {finding.result.probe for finding in audit.flagged}
    assert {"likelier text", "likelihood", "fewer words"} <= flagged
    assert (audit.language_model, audit.read) == ("bundled:tiny", 40)


def test_a_sample_has_pairs_of_every_principle() -> None:
    pairs = pairs_of(30, {}, principles=(2, 3))
    sample = likelihood_sample(pairs, 4, seed=1)
    assert [sum(pair.violated == (number,) for pair in sample) for number in (2, 3)] == [12, 4]
    assert sample == likelihood_sample(pairs, 4, seed=1)
    assert likelihood_sample(pairs, 1000, seed=1) == pairs
