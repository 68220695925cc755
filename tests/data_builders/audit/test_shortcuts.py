"""The shortcut audit flags leaks in P2 and P4, also per domain, and reports the other principles."""

import json
from io import StringIO

import pytest
from planted_pairs import pairs_of
from rich.console import Console

from data_builders.audit.features import PROBES
from data_builders.audit.shortcut_probe import ProbeError, cross_validate
from data_builders.audit.shortcut_report import print_shortcuts
from data_builders.audit.shortcuts import as_json, audit_shortcuts
from data_builders.text_units.text_counts import RULES
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span


def test_a_leak_is_flagged_with_its_word() -> None:
    found = audit_shortcuts(pairs_of(60, {("legal", 2): "leak"}))
    words = next(f for f in found.flagged if f.result.probe == "words")
    assert words.result.group == "P2"
    assert words.result.ci95[0] > 0.9
    assert words.reason == "leaks"
    assert "-leak" in words.result.top_features


def test_a_set_without_shortcuts_passes() -> None:
    found = audit_shortcuts(pairs_of(900, {}))
    readers = [f.result.probe for f in found.findings if f.result.group == "P2"]
    assert readers[-3:] == list(PROBES)
    assert len(readers) == len(PROBES) + len(RULES)
    for finding in (f for f in found.findings if f.result.group == "P2"):
        assert finding.verdict == "pass"
        assert abs(finding.result.accuracy - 0.5) < 0.06


def test_too_few_pairs_are_flagged_as_such() -> None:
    found = audit_shortcuts(pairs_of(12, {}))
    assert found.flagged
    assert all(f.reason == f"too few pairs to tell: {f.result.pairs}" for f in found.flagged if f.result.ci95[0] <= 0.5)


def test_a_leak_in_one_domain_is_flagged() -> None:
    found = audit_shortcuts(pairs_of(200, {("legal", 2): "leak"}, domains=("legal", "medical")))
    words = {f.result.group: f for f in found.findings if f.result.probe == "words"}
    assert words["P2 legal"].verdict == "FLAGGED"
    assert words["P2 medical"].result.accuracy < 0.7 < words["P2 legal"].result.accuracy


def test_length_alone_is_a_shortcut() -> None:
    pairs = pairs_of(60, {("legal", 2): "two words"})
    result = cross_validate("P2", pairs, "length")
    assert result.accuracy > 0.9
    assert "-words" in result.top_features
    assert cross_validate("P2", pairs_of(200, {("legal", 2): "worde33"}), "common words").accuracy > 0.95


def test_a_case_is_never_in_training_and_test() -> None:
    """The three pairs of a case differ in a word that only this case has: training on one would reveal the others."""
    pairs = []
    for n in range(40):
        case = Case.of(domain="legal", context="c", decision="x", reference=f"own{n}", source="test", license="CC0-1.0")
        origin = Origin(teacher="t", seed=0, flaws=(Flaw(principle=2, operator="t", span=Span(start=0, end=1)),))
        pairs += [
            ReasoningPair.of(case, f"leak{n}{'.' * variant}", variant=variant, origin=origin, seed=0)
            for variant in (1, 2, 3)
        ]
    result = cross_validate("P2", pairs, "words")
    assert (result.pairs, result.cases) == (120, 40)
    assert result.accuracy == 0.5


def test_unprobed_groups_are_reported_and_json_is_reproducible() -> None:
    pairs = pairs_of(60, {("legal", 2): "leak"}) + pairs_of(5, {}, principles=(4,), seed=9)
    one, two = audit_shortcuts(pairs, seed=3), audit_shortcuts(pairs, seed=3)
    assert json.dumps(as_json(one)) == json.dumps(as_json(two))
    content = as_json(one)
    assert content["not_probed"]["P4"] == "5 pairs of 5 cases, but 10 cases are needed"
    assert {"group": "P2", "reader": "words", "why": "leaks"} in content["flagged"]
    for finding in content["findings"]:
        assert 0 <= finding["ci95"][0] <= finding["accuracy"] <= finding["ci95"][1] <= 1


def test_too_few_cases_are_an_error() -> None:
    with pytest.raises(ProbeError, match="at least 10 cases, but the set has 4"):
        audit_shortcuts(pairs_of(4, {}))


def test_the_tables_show_flagged_groups_and_fit_a_terminal() -> None:
    out = StringIO()
    pairs = pairs_of(60, {("legal", 2): "leak"}) + pairs_of(90, {("legal", 1): "bad"}, principles=(1,), seed=5)
    print_shortcuts(audit_shortcuts(pairs), Console(file=out, width=80))
    text = out.getvalue()
    flag = text.partition("FLAGGED: P2, ")[2]
    assert "leaks" in flag
    assert "words" in flag
    assert "-leak" in text
    assert "P4 was not probed" in text
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
