"""Formulas on one line: no two numbers touch, and every operand stays one."""

import xml.etree.ElementTree as ET

import pytest

from data_builders.sources.jats_inline import group, math_text


def mi(text: str) -> str:
    return f"<mi>{text}</mi>"


def mn(text: str) -> str:
    return f"<mn>{text}</mn>"


def mo(text: str) -> str:
    return f"<mo>{text}</mo>"


def row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def tag(name: str, *parts: str) -> str:
    return f"<{name}>{''.join(parts)}</{name}>"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (tag("mfrac", mn("1"), mn("2")), "1/2"),
        (tag("mfrac", row(mi("a"), mo("+"), mn("1")), mi("b")), "(a+1)/b"),
        (row(mn("3"), tag("mfrac", mn("1"), mn("2"))), "3(1/2)"),
        (row(tag("mfrac", mn("1"), mn("2")), mi("x")), "1/2 x"),
        ('<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>', "binom(n, k)"),
        (tag("msup", mn("10"), row(mo("−"), mn("3"))), "10^−3"),
        (row(tag("msup", mi("x"), mn("2")), mn("5")), "x^2 5"),
        (tag("msup", row(mi("a"), mo("+"), mi("b")), mi("n")), "(a+b)^n"),
        (tag("msup", mi("x"), mo("′")), "x′"),
        (tag("msub", mi("x"), row(mi("i"), mi("j"))), "x_ij"),
        (tag("msubsup", mi("x"), mi("i"), mn("2")), "x_i^2"),
        (tag("munderover", mo("∑"), row(mi("i"), mo("="), mn("1")), mi("n")), "∑_(i=1)^n"),
        (tag("mover", mi("v"), mo("→")), "v→"),
        (tag("msqrt", mi("x"), mo("+"), mn("1")), "√(x+1)"),
        (tag("mroot", mi("x"), mn("3")), "x^(1/3)"),
        (tag("mmultiscripts", mi("C"), "<mprescripts/>", mn("6"), mn("14")), "^14_6C"),
        ('<mfenced open="[" close="]" separators=";"><mn>1</mn><mn>2</mn></mfenced>', "[1; 2]"),
        (tag("mtable", tag("mtr", tag("mtd", mn("1")), tag("mtd", mn("0")))), "1 0"),
        (row(mi("sin"), mo("\u2061"), mi("x")), "sin x"),
        (row(mn("2"), mo("\u2062"), mi("x")), "2x"),
        (row(mn("2"), mo("\u2062"), mn("3")), "2 3"),
        (row(mi("D"), mi("N"), mi("A")), "DNA"),
        (tag("semantics", mi("x"), "<annotation>x_{1}</annotation>"), "x"),
        (tag("mphantom", mn("7")), ""),
    ],
)
def test_mathml_is_written_on_one_line(markup: str, text: str) -> None:
    for element in (markup, f'<m:math xmlns:m="u">{markup.replace("<", "<m:").replace("<m:/", "</m:")}</m:math>'):
        assert math_text(ET.fromstring(element)) == text


def test_an_operand_keeps_its_own_parentheses_only() -> None:
    assert [group(text) for text in ("x", "−3", "2+", "(a+b)", "(a)(b)", "a b", "1.5")] == [
        "x", "−3", "2+", "(a+b)", "((a)(b))", "(a b)", "1.5",
    ]  # fmt: skip
