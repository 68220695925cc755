"""Superscripts, citations, formulas and line breaks of JATS, read so that no number changes."""

import xml.etree.ElementTree as ET

import pytest

from data_builders.sources.corpus_io import one_line
from data_builders.sources.jats import blocks
from data_builders.sources.jats_inline import inline_text
from data_builders.sources.text_repair import CITATIONS, Changes

MATH = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'
TEX = (
    r"\documentclass[12pt]{minimal} \usepackage{amsmath} \setlength{\oddsidemargin}{-69pt}"
    r" \begin{document}$$\frac{1}{2}$$\end{document}"
)
HALF = "<mml:math><mml:mfrac><mml:mn>1</mml:mn><mml:mn>2</mml:mn></mml:mfrac></mml:math>"


def paragraph(content: str) -> ET.Element:
    return ET.fromstring(f"<p {MATH}>{content}</p>")


def read_inline(content: str) -> tuple[str, Changes]:
    changes = Changes()
    return one_line(inline_text(paragraph(content), changes)), +changes


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("10<sup>9</sup>/L", "10^9/L"),
        ("3 × 10<sup>−4</sup> M and 10<sup>7</sup>fM", "3 × 10^−4 M and 10^7 fM"),
        ("unc-10<sup>452</sup>", "unc-10^452"),
        ("Ca<sup>2+</sup>, <italic>Rest<sup>fl/fl</sup></italic>", "Ca^2+, Rest^(fl/fl)"),
        ("<sup>125</sup>I, 2<sup>n+1</sup>", "^125I, 2^(n+1)"),
        ("the 11<sup>th</sup> day at 37<sup>o</sup>C or 40<sup>°</sup>C", "the 11th day at 37°C or 40°C"),
        ("CO<sub>2</sub>, IC<sub>50</sub>", "CO2, IC50"),
        ("log<sub>2</sub>8 and 101<sub>2</sub>", "log_2 8 and 101_2"),
        ("x<sup>\u00a0</sup>y", "x y"),
    ],
)
def test_scripts_do_not_join_numbers(markup: str, text: str) -> None:
    assert read_inline(markup)[0] == text


def cited(number: str) -> str:
    return f'<xref ref-type="bibr">{number}</xref>'


@pytest.mark.parametrize(
    ("markup", "text", "left_out"),
    [
        (f"in 120<sup>{cited('3')}</sup> cells", "in 120 cells", 1),
        ('in 120<xref ref-type="bibr"><sup>3</sup></xref> cells', "in 120 cells", 1),
        (f"grew<sup>\n{cited('1')},{cited('2')}</sup>.", "grew.", 1),
        (f"grew<sup>{cited('2')}{cited('')}–{cited('4')}</sup>.", "grew.", 1),
        (f"by half<sup>{cited('1140')}</sup>.", "by half.", 1),
        (f"grew{cited('1')},{cited('2')}–{cited('4')} fast", "grew fast", 3),
        ('12.5<xref ref-type="table-fn">a</xref>', "12.5", 1),
        ('40<xref ref-type="table-fn"><sup>†</sup></xref>', "40", 1),
        (f"m<sup>3</sup>\n<sup>{cited('45')}</sup>; thus", "m^3 ; thus", 1),
        (f"see [{cited('1')}]", "see [1]", 0),
        (f"({cited('Roe, 2001')}; {cited('2003')})", "(Roe, 2001; 2003)", 0),
        ('Figure <xref ref-type="fig">1</xref><xref ref-type="fig">A</xref>', "Figure 1A", 0),
        ("of 5 m<sup>2</sup>", "of 5 m^2", 0),
    ],
)
def test_superscript_citations_and_footnote_marks_are_left_out(markup: str, text: str, left_out: int) -> None:
    found, changes = read_inline(markup)
    assert (found, changes[CITATIONS]) == (text, left_out)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (f"<alternatives><tex-math>{TEX}</tex-math>{HALF}<graphic/></alternatives>", "1/2"),
        (f"<inline-formula><alternatives>{HALF}<tex-math>{TEX}</tex-math></alternatives></inline-formula>", "1/2"),
        (f"<inline-formula>{HALF}<tex-math>{TEX}</tex-math></inline-formula>", "1/2"),
        (f"<inline-formula><tex-math>{TEX}</tex-math></inline-formula>", r"\frac{1}{2}"),
        (f"<disp-formula>{HALF}{HALF}</disp-formula>", "1/2 1/2"),
        (f"as<disp-formula><label>3</label>{HALF}</disp-formula>where", "as 1/2 (3) where"),
    ],
)
def test_one_rendering_of_a_formula_is_read(markup: str, text: str) -> None:
    assert read_inline(markup)[0] == text


def test_a_line_break_and_the_paragraphs_of_a_cell_separate_numbers() -> None:
    assert read_inline("4<break/>5") == ("4 5", {"line breaks": 1})
    table = "<table><tr><td><p>1</p><p>2</p></td><td>3<break/>4</td></tr></table>"
    body = ET.fromstring(f"<body><table-wrap>{table}</table-wrap></body>")
    assert list(blocks(body)) == ["1 2 | 3 4"]


def test_a_footnote_follows_its_paragraph() -> None:
    body = ET.fromstring("<body><p>It was 12<fn><label>1</label><p>Rounded.</p></fn> or more.</p></body>")
    assert list(blocks(body)) == ["It was 12 or more.", "Rounded."]
