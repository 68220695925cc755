"""ECHR: the context ends before THE LAW; the reference is the argument of the Court on one complaint, in steps."""

import lzma
import re
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.sources.corpus_io import SourceError, one_line, words
from data_builders.sources.echr import COURT, DECISION, MAX_STEPS, PRECEDENT, Argument, main_run, parse_xmi, read
from data_builders.sources.text_repair import TEXT_CHANGES
from judge_r1.core.records import Case

APPLIED = "Subsumtion"
SPANS = [
    ("The complaint is not ill-founded.", COURT, APPLIED),
    ("It is admissible.", COURT, DECISION),
    ("The applicant says it was unlawful.", "Beschwerdeführer", APPLIED),
    ("Earlier cases ask for a basis in law (A. v. B.).", COURT, PRECEDENT),
    ("The order of 3 May\ncited  no law at all.", COURT, APPLIED),
    ("It was therefore unlawful.", COURT, APPLIED),
    ("There has been a violation.", COURT, DECISION),
    ("Costs are awarded.", COURT, APPLIED),
]
JUDGMENT = (
    "CASE OF X v. Y\nPROCEDURE\n1. An application.\nTHE FACTS\n2. On 3 May an order was made 😀.\n"
    "THE LAW\n"
    + "\n".join(text for text, _, _ in SPANS)
    + "\nFOR THESE REASONS, THE COURT\n1. Holds that there has been"
    " a violation;\n Done in English, and notified.\nA. Judge\n"
)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def xmi(judgment: str = JUDGMENT, spans: list[tuple[str, str, str]] = SPANS, version: str = "1.1") -> bytes:
    """A file in the format of the corpus: UTF-16 offsets, spans not in document order."""
    elements = []
    for text, actor, kind in reversed(spans):
        begin = units(judgment[: judgment.index(text)])
        elements.append(
            f'<custom:LegalArgumentation begin="{begin}" end="{begin + units(text)}" '
            f"Akteur={quoteattr(actor)} ArgType={quoteattr(kind)}/>"
        )
    sofa = quoteattr(judgment, {"\n": "&#10;", "\x01": "&#1;"})
    return (
        f'<?xml version="{version}" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://x" xmlns:custom="http://c" '
        f'xmlns:cas="http://s">{"".join(elements)}<cas:Sofa sofaString={sofa}/></xmi:XMI>'
    ).encode()


def corpus(folder: Path, **files: bytes) -> Path:
    (folder / "gold_data").mkdir()
    for name, data in files.items():
        (folder / "gold_data" / f"{name}.xmi.xz").write_bytes(lzma.compress(data))
    return folder


def cases(path: Path, limit: int | None = None) -> tuple[list[Case], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(read(path, limit, 0, skipped)), skipped


def test_a_judgment_becomes_a_case(tmp_path: Path) -> None:
    (case,), skipped = cases(corpus(tmp_path, a=xmi()))
    assert not skipped
    assert (case.domain, case.source, case.meta["group"]) == ("legal", "echr/a", "a")
    assert case.context == "2. On 3 May an order was made 😀."
    assert case.decision == "FOR THESE REASONS, THE COURT\n1. Holds that there has been a violation;"
    assert case.reference == (
        "1. The order of 3 May cited no law at all.\n2. It was therefore unlawful.\n3. There has been a violation."
    )
    counts = {key: case.meta[key] for key in ("court_spans", "other_complaints", "precedent", "beyond_max_steps")}
    assert counts == {"court_spans": 7, "other_complaints": 3, "precedent": 1, "beyond_max_steps": 0}


def test_a_long_argument_keeps_its_last_steps_and_counts_dropped_ones(tmp_path: Path) -> None:
    # The soft hyphens of the first finding are cut with it, and count as no change of the case.
    cut = [("Find\u00ading number 9 of the Court.", COURT, APPLIED)]
    many = cut + [(f"Finding number {n} of the Court.", COURT, APPLIED) for n in range(10, 30)] + SPANS[-2:-1]
    judgment = "THE FACTS\nSome.\nTHE LAW\n" + "\n".join(s[0] for s in many) + "\nFOR THESE REASONS\nHolds."
    (case,), _ = cases(corpus(tmp_path, a=xmi(judgment, many)))
    steps = case.reference.split("\n")
    assert len(steps) == MAX_STEPS
    assert steps[0] == f"1. Finding number {31 - MAX_STEPS} of the Court."
    assert steps[-1] == f"{MAX_STEPS}. There has been a violation."
    assert case.meta["beyond_max_steps"] == 22 - MAX_STEPS
    assert TEXT_CHANGES not in case.meta


def test_skipped_judgments_are_counted_by_reason(tmp_path: Path) -> None:
    path = corpus(
        tmp_path,
        a=xmi(JUDGMENT.replace("THE FACTS", "FACTS")),
        b=xmi(JUDGMENT.replace("THE LAW", "LAW")),
        c=xmi(JUDGMENT.replace("FOR THESE REASONS", "So")),
        d=xmi(spans=[]),
        e=xmi(),
        f=xmi(JUDGMENT.replace("2. On 3 May an order was made 😀.", "")),
    )
    found, skipped = cases(path)
    assert [case.meta["group"] for case in found] == ["e"]
    assert len(skipped) == 5
    assert set(skipped.values()) == {1}


def test_files_are_read_in_name_order(tmp_path: Path) -> None:
    path = corpus(tmp_path, c=xmi(), a=xmi(), b=xmi())
    assert [case.meta["group"] for case in cases(path)[0]] == ["a", "b", "c"]
    assert [case.meta["group"] for case in cases(path, limit=2)[0]] == ["a", "b"]


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), min_size=1, max_size=30), st.data())
def test_offsets_are_utf_16_units(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    span = text[start : data.draw(st.integers(start + 1, len(text)))]
    _, arguments = parse_xmi(xmi(f"😀{text}", [(span, COURT, APPLIED)]), "toy")
    assert [argument.text for argument in arguments] == ([one_line(span)] if one_line(span) else [])


def test_xml_1_1_characters_do_not_shift_offsets() -> None:
    text, arguments = parse_xmi(xmi("ab\x01cd end", [("cd", COURT, APPLIED)]), "toy")
    assert text == "ab cd end"
    assert [a.text for a in arguments] == ["cd"]


def test_the_main_argument_has_the_most_words_of_application() -> None:
    def spans(*kinds_and_lengths: tuple[str, int]) -> list[Argument]:
        return [Argument(COURT, kind, "word " * n) for kind, n in kinds_and_lengths]

    court = spans(
        (PRECEDENT, 90), (APPLIED, 5), (DECISION, 1), (DECISION, 1), (APPLIED, 9), (DECISION, 1), (APPLIED, 99)
    )
    assert main_run(court) == court[4:6]
    assert main_run(court[:1]) == court[:1]
    assert main_run([]) == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (xmi()[:-20], "is not valid XML"),
        (xmi("ab\x01cd end", [], version="1.0"), "is not valid XML"),
        (xmi().replace(b"sofaString", b"text"), "field sofaString .* is missing"),
        (re.sub(rb'end="\d+"', b'end="99999"', xmi()), "field end of a LegalArgumentation must be an offset"),
        (re.sub(rb'begin="\d+"', b"", xmi()), "field begin of a LegalArgumentation must be an offset"),
    ],
)
def test_an_invalid_file_is_reported(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"a\.xmi\.xz.* {message}|a\.xmi\.xz:? {message}"):
        cases(corpus(tmp_path, a=data))


def test_an_empty_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="gold_data holds no judgment"):
        cases(corpus(tmp_path))


@pytest.mark.real_data
def test_real_facts_do_not_contain_the_argument_of_the_court(real_data: Path) -> None:
    found, skipped = cases(real_data)
    assert len(found) == 80
    assert not skipped
    assert len({case.case_id for case in found}) == 80
    for case in found:
        context = " ".join(re.findall(r"\w+", case.context.lower()))
        steps = [" ".join(re.findall(r"\w+", line.lower())[1:]) for line in case.reference.split("\n")]
        assert 2 <= len(steps) <= MAX_STEPS, case.source
        assert not any(step in context for step in steps if len(step.split()) >= 8), case.source
        assert not re.search(r"(?m)^\s*(?:AS TO )?THE LAW\s*$|FOR THESE REASONS|BEFORE THE COMMISSION", case.context)
        assert case.decision.startswith("FOR THESE REASONS")
        assert "Done in" not in case.decision
        assert words(case.context) >= 300


def test_spans_of_another_view_are_left_out() -> None:
    """As dkpro-cassis 0.12.0 writes a text and its translation: each span names its text."""
    span = '<custom:LegalArgumentation sofa="{}" begin="{}" end="{}" Akteur="EGMR" ArgType="Subsumtion"/>'
    views = {1: "The Court finds a breach.", 2: "Der Gerichtshof stellt eine Verletzung fest."}
    sofas = "".join(f'<cas:Sofa xmi:id="{name}" sofaString={quoteattr(text)}/>' for name, text in views.items())
    data = (
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:custom="http:///webanno/custom.ecore" '
        f'xmlns:cas="http:///uima/cas.ecore">{span.format(2, 4, 16)}{span.format(1, 10, 24)}{sofas}</xmi:XMI>'
    )
    assert parse_xmi(data.encode(), "x") == (views[1], [Argument("EGMR", "Subsumtion", "finds a breach")])
