"""The shortcut audit flags what leaks into P2 and P4, by name and in each domain, and reports the rest."""

import json
from io import StringIO
from random import Random

import pytest
from rich.console import Console

from data_builders.audit.features import READERS
from data_builders.audit.shortcut_probe import ProbeError, cross_validated, held_out
from data_builders.audit.shortcut_report import print_shortcuts
from data_builders.audit.shortcuts import as_json, audit_shortcuts
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span

WORDS = [f"word{n}" for n in range(300)]
Plant = dict[tuple[str, int], str]
"""What the flawed text has in the place of a word, by domain and principle; a random word where nothing is said."""


def pairs_of(
    cases: int,
    plant: Plant,
    *,
    principles: tuple[int, ...] = (2,),
    domains: tuple[str, ...] = ("legal",),
    seed: int = 0,
) -> list[ReasoningPair]:
    """A pair a case and principle whose operator is one of three, in turn."""
    rng, pairs = Random(seed), []
    for number in range(cases):
        words, domain = rng.sample(WORDS, 30), domains[number % len(domains)]
        case = Case.of(
            domain=domain,
            context=f"case {number}",
            decision="x",
            reference=" ".join(words),
            source="toy",
            license="CC0-1.0",
        )
        for principle in principles:
            place = rng.randrange(30)
            new = plant.get((domain, principle)) or rng.choice([w for w in WORDS if w not in words])
            changed = [*words[:place], new, *words[place + 1 :]]
            start = len(" ".join(words[:place])) + (place > 0)
            flaw = Flaw(principle=principle, operator=f"o{number % 3}", span=Span(start=start, end=start + len(new)))
            origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
            pairs.append(ReasoningPair.of(case, " ".join(changed), variant=1, origin=origin, seed=0))
    return pairs


def test_a_leak_is_flagged_with_the_word_that_tells() -> None:
    found = audit_shortcuts(pairs_of(60, {("legal", 2): "leak"}))
    words = next(f for f in found.flagged if f.row.reader == "words")
    assert words.row.name == "P2"
    assert words.row.ci95[0] > 0.9
    assert words.why == "leaks"
    assert "-leak" in words.row.telling


def test_a_set_without_shortcuts_passes() -> None:
    found = audit_shortcuts(pairs_of(900, {}))
    assert [f.row.reader for f in found.findings if f.row.name == "P2"] == list(READERS)
    for finding in (f for f in found.findings if f.row.name == "P2"):
        assert finding.verdict == "pass"
        assert abs(finding.row.accuracy - 0.5) < 0.06


def test_too_few_pairs_are_flagged_as_such() -> None:
    found = audit_shortcuts(pairs_of(12, {}))
    assert found.flagged
    assert all(f.why == f"too few pairs to tell: {f.row.pairs}" for f in found.flagged if f.row.ci95[0] <= 0.5)


def test_a_domain_cannot_hide_behind_another() -> None:
    found = audit_shortcuts(pairs_of(200, {("legal", 2): "leak"}, domains=("legal", "medical")))
    words = {f.row.name: f for f in found.findings if f.row.reader == "words"}
    assert words["P2 legal"].verdict == "FLAGGED"
    assert words["P2 medical"].row.accuracy < 0.7 < words["P2 legal"].row.accuracy


def test_length_alone_is_a_shortcut() -> None:
    pairs = pairs_of(60, {("legal", 2): "two words"})
    row = cross_validated("P2", pairs, "length")
    assert row.accuracy > 0.9
    assert "-words" in row.telling
    assert cross_validated("P2", pairs_of(200, {("legal", 2): "worde33"}), "common words").accuracy > 0.95


def test_different_words_are_counted() -> None:
    pairs = []
    for pair in pairs_of(60, {}):
        case = Case.of(
            domain="legal",
            context="c",
            decision="x",
            reference=f"{pair.reference} again again",
            source="t",
            license="t",
        )
        flaw = pair.origin.flaws[0].model_copy(update={"span": Span(start=0, end=1)})
        flawed = f"{case.reference[:-6]} {'other'}"
        origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
        pairs.append(ReasoningPair.of(case, flawed, variant=1, origin=origin, seed=0))
    row = cross_validated("P2", pairs, "length")
    assert row.accuracy == 1.0
    assert "-different words" in row.telling


def test_a_shortcut_that_all_operators_share_transfers_and_another_does_not() -> None:
    shared = held_out("P1", pairs_of(90, {("legal", 1): "leak"}, principles=(1,)), "words")
    assert shared is not None
    assert shared.overall.accuracy > 0.95
    assert set(shared.by_operator) == {"o0", "o1", "o2"}
    own = []
    for n in range(3):  # each operator with a word of its own
        own += [
            p
            for p in pairs_of(90, {("legal", 1): f"leak{n}"}, principles=(1,))
            if p.origin.flaws[0].operator == f"o{n}"
        ]
    assert cross_validated("P1", own, "words").accuracy > 0.95
    unseen = held_out("P1", own, "words")
    assert unseen is not None
    assert unseen.overall.accuracy < 0.7


def test_an_operator_cannot_be_held_out_alone() -> None:
    pairs = [p for p in pairs_of(90, {}, principles=(1,)) if p.origin.flaws[0].operator == "o1"]
    assert held_out("P1", pairs, "words") is None
    few = [p for p in pairs_of(90, {}, principles=(1,)) if p.origin.flaws[0].operator != "o1"]
    few += [p for p in pairs_of(90, {}, principles=(1,)) if p.origin.flaws[0].operator == "o1"][:9]
    found = held_out("P1", few, "words")
    assert found is not None
    assert found.too_few == ("o1",)
    assert found.overall.pairs == 60


def test_no_case_is_trained_on_and_judged() -> None:
    """What differs is a word of the case's own, the same in its three pairs: who saw another of them could tell."""
    pairs = []
    for n in range(40):
        case = Case.of(domain="legal", context="c", decision="x", reference=f"own{n}", source="toy", license="CC0-1.0")
        origin = Origin(teacher="t", seed=0, flaws=(Flaw(principle=2, operator="t", span=Span(start=0, end=1)),))
        pairs += [
            ReasoningPair.of(case, f"leak{n}{'.' * variant}", variant=variant, origin=origin, seed=0)
            for variant in (1, 2, 3)
        ]
    row = cross_validated("P2", pairs, "words")
    assert (row.pairs, row.cases) == (120, 40)
    assert row.accuracy == 0.5


def test_what_was_not_probed_is_told_and_json_is_the_same_again() -> None:
    pairs = pairs_of(60, {("legal", 2): "leak"}) + pairs_of(5, {}, principles=(4,), seed=9)
    one, two = audit_shortcuts(pairs, seed=3), audit_shortcuts(pairs, seed=3)
    assert json.dumps(as_json(one)) == json.dumps(as_json(two))
    content = as_json(one)
    assert content["not_probed"]["P4"] == "5 pairs of 5 cases, where 10 cases are needed"
    assert {"group": "P2", "reader": "words", "why": "leaks"} in content["flagged"]
    for finding in content["findings"]:
        assert 0 <= finding["ci95"][0] <= finding["accuracy"] <= finding["ci95"][1] <= 1


def test_too_few_cases_are_an_error() -> None:
    with pytest.raises(ProbeError, match="at least 10 cases, here are 4"):
        audit_shortcuts(pairs_of(4, {}))


def test_the_tables_name_what_is_flagged_and_fit_a_terminal() -> None:
    out = StringIO()
    pairs = pairs_of(60, {("legal", 2): "leak"}) + pairs_of(90, {("legal", 1): "bad"}, principles=(1,), seed=5)
    print_shortcuts(audit_shortcuts(pairs), Console(file=out, width=80))
    text = out.getvalue()
    assert "FLAGGED: P2, words" in text
    assert "-leak" in text
    assert "all of them" in text
    assert "P4 was not probed" in text
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
