"""The selection keeps sums near zero; a balanced build is reproducible, counted, and audited as balanced."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import CASES, CITED_MEDICAL, case_of

from data_builders.audit.likelihood import LikelihoodReader
from data_builders.build import LIKELIHOODS_FILE, build
from data_builders.perturb.rules.balanced import perturb_balanced
from data_builders.perturb.rules.likelihood_guess import CHANGE, LikelihoodGuess
from data_builders.perturb.rules.selection import (
    LIMIT,
    READ,
    READ_STRICT,
    REPEATING_LIMIT,
    START,
    WORD_START,
    Candidate,
    Selection,
)
from data_builders.perturb.rules.statement_rates import StatementRates
from data_builders.perturb.rules.statements import stated
from data_builders.perturb.rules.text_match import changed
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span

REFERENCE = "aa bb cc dd ee ff"


def candidate(number: int, flawed: str, place: int = 0, name: str = "swap", reference: str = REFERENCE) -> Candidate:
    """A candidate for a case with a reference that breaks a principle."""
    span = Span(start=0, end=max(1, len(flawed)))
    origin = Origin(teacher="rules", seed=0, flaws=(Flaw(principle=number, operator=name, span=span),))
    case = Case.of(domain="legal", context="c", decision="d", reference=reference, source="toy", license="Apache-2.0")
    return Candidate(ReasoningPair.of(case, flawed, variant=1, origin=origin, seed=0), place, (name,))


LONGER, SHORTER = "aa bb cc dd ee ff gg", "aa bb cc dd ee"


def test_longer_and_shorter_flaws_alternate() -> None:
    selection, lengths = Selection(), []
    for _ in range(20):
        drawn = {"P5": [candidate(5, LONGER), candidate(5, SHORTER)]}
        selection.measure(REFERENCE, drawn)
        chosen = selection.choose(drawn["P5"], {})
        assert chosen is not None
        lengths.append(len(chosen.pair.flawed))
    assert lengths.count(len(LONGER)) == lengths.count(len(SHORTER)) == 10


def test_groups_are_balanced_separately() -> None:
    selection = Selection()
    for number in (3, 5, 3, 5):
        drawn = {f"P{number}": [candidate(number, LONGER), candidate(number, SHORTER)]}
        selection.measure(REFERENCE, drawn)
        selection.choose(drawn[f"P{number}"], {})
    assert [group.signs["words"] for group in selection._groups.values()] == [0, 0]


@pytest.mark.parametrize(("number", "chosen_of_200"), [(2, range(2, 4)), (4, range(1, 3)), (5, range(4, 6))])
def test_a_flaw_that_always_lengthens_is_left_out_at_the_limit(number: int, chosen_of_200: range) -> None:
    selection, made = Selection(), 0
    for _ in range(200):
        drawn = {"one": [candidate(number, LONGER)]}
        selection.measure(REFERENCE, drawn)
        made += selection.choose(drawn["one"], {}) is not None
    assert made in chosen_of_200


@pytest.mark.parametrize(("number", "kept"), [(4, 1), (5, 2)])
def test_p4_brings_no_sentence_twice(number: int, kept: int) -> None:
    selection, sentence = Selection(), "the hearing was adjourned until the tenth of May"
    made = [
        selection.choose([candidate(number, f"{lead}: “{sentence}.”")], {})
        for lead in ("According to the file", "The file also records")
    ]
    assert sum(chosen is not None for chosen in made) == kept


def test_a_flaw_that_reduces_an_excess_is_allowed_beyond_the_limit() -> None:
    selection = Selection()
    selection.measure(REFERENCE, drawn := {"P2": [candidate(2, LONGER)]})
    group = selection._group(drawn["P2"][0])
    group.signs.update(dict.fromkeys(drawn["P2"][0].features, 50))
    assert selection.choose(drawn["P2"], {}) is None
    selection.measure(REFERENCE, shorter := {"P2": [candidate(2, SHORTER)]})
    shorter["P2"][0].features = {"words": -1.0, "characters": -6.0}
    assert selection.choose(shorter["P2"], {}) is not None


@pytest.mark.parametrize("repeating", [False, True])
def test_generated_cases_have_the_wider_limit(repeating: bool) -> None:
    selection = Selection(repeating=repeating)
    selection.measure(REFERENCE, drawn := {"P5": [candidate(5, LONGER)]})
    group, leaning = selection._group(drawn["P5"][0]), START + (LIMIT + REPEATING_LIMIT) / 2 * 100
    group.chosen = 100
    group.signs.update(dict.fromkeys(drawn["P5"][0].features, round(leaning)))
    assert (selection.choose(drawn["P5"], {}) is not None) == repeating


def test_used_operators_are_avoided() -> None:
    drawn = {"P2": [candidate(2, "aa bb cc dd ee hh", name="a"), candidate(2, "hh bb cc dd ee ff")]}
    selection = Selection()
    selection.measure(REFERENCE, drawn)
    for one in drawn["P2"]:
        one.features, one.words = {}, {}
    chosen = selection.choose(drawn["P2"], {"a": 3})
    assert chosen is not None
    assert chosen.operators == ("swap",)


class Likelihoods:
    """Texts with an x are likely. Counts the texts that it reads."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def tokens(self, reference: str) -> Sequence[tuple[int, int, float]]:
        return [(start, start + 2, -1.0) for start in range(0, len(reference), 3)]

    def features(self, reference: str, flawed: Sequence[str]) -> Sequence[Mapping[str, float]]:
        self.read.append(len(flawed))
        return [
            dict.fromkeys(("log-likelihood", "mean log-likelihood", CHANGE), 3.0 if "x" in text else -3.0)
            for text in flawed
        ]


def test_a_word_that_flaws_always_add_is_left_out_at_the_limit() -> None:
    selection, made = Selection(), 0
    for old in REFERENCE.split() * 5:
        drawn = {"P2": [candidate(2, REFERENCE.replace(old, "hh"))]}
        selection.measure(REFERENCE, drawn)
        made += selection.choose(drawn["P2"], {}) is not None
    assert made == WORD_START


def test_a_sentence_comes_back_only_after_a_flaw_has_removed_it() -> None:
    """A reader who remembers it is then as often wrong as right. Numbers and names do not make another sentence."""
    selection, made = Selection(), list[bool]()
    brought, other = "the hearing of the parties was adjourned to 4 May.", "no witness was called by one of the sides."
    again = brought.replace("4 May", "9 June")
    for old, new in ((other, brought), (other, again), (brought, other), (other, again), (other, again)):
        reference = f"One reason is given. {old}"
        drawn = candidate(4, f"One reason is given. {new}", reference=reference)
        made.append(selection.choose([drawn], {}) is not None)
    assert made == [True, False, True, True, False]


def test_flaws_of_p4_that_bring_the_more_common_statement_end_at_the_limit() -> None:
    cases = [
        case_of("legal", f"{text} It rained.", "1. A claim.")
        for text in ("He was married.", "She was married.", "They were married.", "He was ill.", "Nothing.")
    ]
    common, rare = (
        next(statement.texts[0] for statement in stated(cases[number]) if statement.matter == matter)
        for number, matter in ((0, "married"), (3, "illness"))
    )
    selection = Selection(repeating=True, rates=StatementRates(lambda: cases))  # a sentence may come again

    def is_chosen(old: str, new: str) -> bool:
        drawn = {"P4": [candidate(4, new, reference=old)]}
        selection.compare_statements(selection.statements_of(cases[-1]), drawn)
        return selection.choose(drawn["P4"], {}) is not None

    made = [is_chosen(rare, common) for _ in range(12)]
    assert 0 < sum(made) < 12
    assert made == sorted(made, reverse=True)
    assert is_chosen(common, rare)
    without = Selection(repeating=True)
    assert all(without.choose([candidate(4, common, reference=rare)], {}) for _ in range(12))


@pytest.mark.parametrize(("number", "read"), [(2, READ_STRICT), (5, READ)])
def test_likelihoods_are_balanced_and_few_candidates_are_read(number: int, read: int) -> None:
    likelihoods = Likelihoods()
    selection = Selection(likelihoods)
    for old in REFERENCE.split() * 2:
        texts = [(REFERENCE.replace(old, "xy"[place % 2] + old[1:]), place) for place in range(40)]
        drawn = {"P": [candidate(number, text, place) for text, place in texts]}
        selection.measure(REFERENCE, drawn)
        assert len(drawn["P"]) == likelihoods.read[-1] == read
        assert selection.choose(drawn["P"], {}) is not None
    [group] = selection._groups.values()
    assert abs(group.signs["log-likelihood"]) <= START


def test_flaws_with_several_principles_are_not_read() -> None:
    likelihoods = Likelihoods()
    selection = Selection(likelihoods)
    pairs = list(perturb_balanced(CITED_MEDICAL, selection=selection, kinds=("multi",), abstained=Counter()))
    assert len(pairs) == 5
    assert likelihoods.read == [0]


TOKENS = [(0, 2, -1.0), (3, 5, -7.0), (6, 8, -1.0)]


def test_a_guess_compares_what_is_removed_with_what_the_operator_inserted_before() -> None:
    guess, span = LikelihoodGuess(), Span(start=3, end=5)
    new = guess.features("swap", "aa bb cc", "aa xx cc", span, TOKENS)
    assert new == {"log-likelihood": 4.5, "mean log-likelihood": pytest.approx((4.5 - 1.5) / 2.5), CHANGE: 2.0}
    found = {"log-likelihood": -1.0, "mean log-likelihood": -1 / 3, CHANGE: -1.0}  # what was inserted has -8
    guess.learn("swap", "aa bb cc", "aa xx cc", span, TOKENS, found)
    assert guess.features("swap", "aa bb cc", "aa yy cc", span, TOKENS)[CHANGE] == -1.0
    assert guess.features("other", "aa bb cc", "aa yy cc", span, TOKENS)[CHANGE] == 2.0
    deleted = guess.features("swap", "aa bb cc", "aa  cc", span, TOKENS)
    assert (deleted["log-likelihood"], deleted[CHANGE]) == (7.0, 0.0)


def test_a_guess_remembers_a_text_with_its_tokens() -> None:
    """What was inserted has two tokens and -8 together, whatever it replaces and whichever operator inserts it."""
    guess, span = LikelihoodGuess(), Span(start=3, end=7)
    found = {"log-likelihood": -1.0, "mean log-likelihood": -10 / 4 + 9 / 3, CHANGE: 3.0}
    guess.learn("swap", "aa bb cc", "aa xxxx cc", span, TOKENS, found)
    new = guess.features("other", "aa bb cc", "aa xxxx cc", span, TOKENS)
    assert new == pytest.approx(found)
    other = guess.features("swap", "aa bb cc", "xxxx bb cc", Span(start=0, end=4), TOKENS)
    assert (other["log-likelihood"], other[CHANGE]) == (-7.0, -3.0)


@given(st.text("ab ", max_size=12), st.text("ab ", max_size=12))
def test_the_rest_of_two_texts_is_equal(one: str, other: str) -> None:
    start, end, new_end = changed(one, other)
    assert one[:start] == other[:start]
    assert one[end:] == other[new_end:]
    assert start <= min(end, new_end)
    assert (
        (start, end, new_end) == (len(one), len(one), len(one))
        if one == other
        else one[start:end] != other[start:new_end]
    )


def all_pairs(cases: Sequence[Case]) -> list[ReasoningPair]:
    selection = Selection()
    return [pair for case in cases for pair in perturb_balanced(case, selection=selection, abstained=Counter())]


def test_pairs_depend_on_the_cases_before_and_on_nothing_else() -> None:
    assert all_pairs(CASES) == all_pairs(CASES)
    assert all_pairs(CASES)[: len(all_pairs([CASES[0]]))] == all_pairs([CASES[0]])


def test_variants_of_a_principle_change_different_steps_and_are_counted() -> None:
    abstained: Counter[str] = Counter()
    pairs = list(perturb_balanced(CITED_MEDICAL, selection=Selection(), abstained=abstained))
    for number in range(1, 7):
        made = [pair for pair in pairs if pair.violated == (number,)]
        lost = sum(count for reason, count in abstained.items() if reason.startswith(f"P{number}: no "))
        assert len(made) + lost == 5
        assert [pair.variant for pair in made] == list(range(1, len(made) + 1))
    multi = [pair for pair in pairs if pair.kind == "multi"]
    assert len({pair.violated for pair in multi}) == len(multi) > 0


def test_a_second_build_reads_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"kinds": ("single",), "limit": 2, "reader": "bundled:tiny"}
    first = build("builtin", tmp_path, **options)  # type: ignore[arg-type]
    assert first["reader"] == "bundled:tiny"
    pairs = load_pairs(tmp_path).pairs
    (tmp_path / "pairs.jsonl").unlink()
    monkeypatch.setattr(LikelihoodReader, "read", lambda *_: pytest.fail("read again"))
    build("builtin", tmp_path, **options)  # type: ignore[arg-type]
    assert load_pairs(tmp_path).pairs == pairs


def test_a_build_without_a_reader_stores_no_likelihoods(tmp_path: Path) -> None:
    options = {"kinds": ("single",), "limit": 2}
    assert build("builtin", tmp_path, **options)["reader"] is None  # type: ignore[arg-type]
    assert not (tmp_path / LIKELIHOODS_FILE).exists()


def test_p2_exchanges_opposites_only_where_it_changes_too_few_steps_otherwise() -> None:
    facts = "The level was higher in the large group of plants.", "The field was larger than the yard of the farm."
    values = "The visit of the owner was 34 minutes long.", "The walk of the smith was 57 kilometers long."
    for variants, opposites in ((2, 0), (4, 2)):
        cited = (*facts, *values)
        reference = "\n".join(f"{n}. It is plain. {fact}" for n, fact in enumerate(cited, 1))
        case = case_of("academic", " ".join(cited), reference)
        pairs = perturb_balanced(case, selection=Selection(), kinds=("single",), variants=variants, abstained=Counter())
        used = Counter(flaw.operator for pair in pairs for flaw in pair.origin.flaws if pair.violated == (2,))
        assert used == Counter(other_number=2, opposite_attribute=opposites)
