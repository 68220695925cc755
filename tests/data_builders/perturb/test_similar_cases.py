"""The nearest cases share rare words with a case, and their words are those that a sentence of it could have."""

from perturb_factories import case_of

from data_builders.perturb.rules.similar_cases import NEAREST, SimilarCases

SEA = [f"The harbour pilot saw the vessel near pier {word}." for word in ("alpha", "bravo", "delta", "gamma")]
FARM = [f"The farmer drove the tractor over field {word} in autumn." for word in "abcdefghijklmnopqrstuvwxyz"[:NEAREST]]


def test_words_near_a_case_are_those_of_cases_like_it() -> None:
    similar = SimilarCases({"legal": [*SEA, *FARM]})
    near = similar.words_near(case_of("legal", "The harbour was closed. A vessel lay at the pier.", "1. Closed."))
    assert {"harbour", "pilot", "vessel", "pier"} <= near
    assert not {"alpha", "bravo"} & near  # one case of the nearest ones has them


def test_a_case_is_not_near_itself_and_other_domains_are_not_either() -> None:
    similar = SimilarCases({"legal": [SEA[0]], "medical": FARM})
    assert similar.words_near(case_of("legal", SEA[0], "1. It was seen.")) == frozenset()
    assert similar.words_near(case_of("insurance", SEA[0], "1. It was seen.")) == frozenset()
