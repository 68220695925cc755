"""Pairs of three domains, and answers of annotators to them."""

from factories import make_case, make_pair

from data_builders.audit.annotation.choices import first_side
from judge_r1.core.records import ReasoningPair
from judge_r1.files.pair_set import PairSet
from judge_r1.labels.audit_answers import Choice

DOMAINS = ("academic", "legal", "medical")


def sample_pairs(cases: int = 6) -> PairSet:
    """Two pairs per case; the domains alternate."""
    made_cases = [
        make_case(
            f"Witness {n} paid {n + 20} crowns in Rome.",
            reference=f"1. Witness {n} paid {n + 20} crowns, so claim {n} stands.",
            domain=DOMAINS[n % 3],
        )
        for n in range(cases)
    ]
    pairs = [
        make_pair(case, case.reference.replace(" paid ", f" {verb} "), (principle,), seed=1)
        for case in made_cases
        for verb, principle in (("owed", 2), ("stole", 4))
    ]
    return PairSet.of(made_cases, pairs)


def choose(pair: ReasoningPair, agrees: bool, annotator: str = "Ana", round_: int = 1) -> Choice:
    """An answer that agrees with the label, or differs from it."""
    other = "B" if pair.preferred == "A" else "A"
    return Choice.model_validate(
        {
            "schema": 1,
            "annotator": annotator,
            "round": round_,
            "pair_id": pair.pair_id,
            "choice": pair.preferred if agrees else other,
            "shown_first": first_side(pair, annotator, round_),
            "at": "2026-01-01T00:00:00+00:00",
        }
    )
