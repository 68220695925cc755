"""The language-model reader scores as a plain forward pass does, and finds what is unlikely."""

import pytest
from planted_pairs import pairs_of

from data_builders.audit.shortcut_probe import zero_shot_likelihood
from data_builders.audit.shortcuts import audit_shortcuts, likelihood_sample
from data_builders.text_units.likelihood import LikelihoodReader, TokenScores, likelihood_features, pair_likelihoods


@pytest.fixture(scope="module")
def reader() -> LikelihoodReader:
    return LikelihoodReader("bundled:tiny")


def test_scores_equal_a_plain_forward_pass(reader: LikelihoodReader) -> None:
    import torch

    texts = [
        "the paper cites 3 of 40 trials and then leaves",
        "the paper cites 3 of 40 trials and then stays",
        "the paper",
        "a different text from its first word",
        "the paper cites 3 of 40 trials and then leaves",
        "the paper cites 4 of 40 trials and then leaves, but later",
    ]
    for text, scores in zip(texts, reader.read(texts), strict=True):
        ids = reader._tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logits = reader._model(torch.tensor([[reader._start, *ids[:-1]]])).logits[0]
        expected = logits.log_softmax(-1)[range(len(ids)), ids].tolist()
        assert scores.ids == tuple(ids)
        assert scores.logprobs == pytest.approx(expected, abs=1e-4)


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
