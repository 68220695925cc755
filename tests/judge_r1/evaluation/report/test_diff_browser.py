"""The diff of two texts in a browser: what is marked is whole, and a number of a step stays with its step."""

from collections.abc import Iterator
from typing import Any

import pytest
from browser import chromium
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paths import REPO

SOURCE = (REPO / "judge_r1/evaluation/report/static/diff.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with chromium() as browser:
        yield browser.new_page()


def call(page: Any, name: str, *arguments: Any) -> Any:
    return page.evaluate(
        "([source, name, values]) => new Function(`${source}; return ${name}`)()(...values)", [SOURCE, name, arguments]
    )


def marked(page: Any, left: str, right: str) -> list[list[str]]:
    spans = call(page, "changes", [left, right])
    return [[text[start:end] for start, end in side] for text, side in zip((left, right), spans, strict=True)]


@pytest.mark.parametrize(
    ("left", "right", "first", "second"),
    [
        ("The dose was 1.2 mg/kg.", "The dose was 2.1 mg/kg.", "1.2", "2.1"),
        ("It cost 1,234.50 euros.", "It cost 1,243.50 euros.", "1,234.50", "1,243.50"),
        ("at -5 °C", "at 5 °C", "-5", "5"),
        ("(−2) was", "(−3) was", "−2", "−3"),
        ("fell by 98%.", "fell by 89%.", "98%", "89%"),
        ("Ana paid $34.", "Ana paid $43.", "$34", "$43"),
        ("145 × 10⁹/L", "145 × 10⁶/L", "10⁹/L", "10⁶/L"),
        ("10 mg/m² daily", "10 mg/kg daily", "mg/m²", "mg/kg"),
        ("at 14:30.", "at 04:30.", "14:30", "04:30"),
        ("for 3–5 days", "for 3–7 days", "3–5", "3–7"),
        ("p < 1.2e-5", "p < 2.1e-5", "1.2e-5", "2.1e-5"),
        ("on 5 May 2024, so", "on 15 May 2023, so", "5 May 2024", "15 May 2023"),
        ("on May 5, 2024.", "on May 6, 2024.", "May 5, 2024", "May 6, 2024"),
        ("on 2024-05-05.", "on 2024-05-06.", "2024-05-05", "2024-05-06"),
        ("他于2024年5月5日入院", "他于2024年5月6日入院", "2024年5月5日", "2024年5月6日"),
        ("a non-small cell", "a small cell", "non-small", "small"),
        ("it doesn't work", "it don't work", "doesn't", "don't"),
        ("a cafe\u0301 there", "a cafe there", "cafe\u0301", "cafe"),
        ("IL-6 rose", "IL-8 rose", "IL-6", "IL-8"),
        ("he may 5 times", "he may 6 times", "5", "6"),
        ("The end.", "The ends.", "end", "ends"),
    ],
)
def test_a_changed_word_is_marked_whole(page: Any, left: str, right: str, first: str, second: str) -> None:
    assert marked(page, left, right) == [[first], [second]]


def test_space_is_marked_between_changed_words_or_alone(page: Any) -> None:
    assert marked(page, "He can go home.", "He can not go home.") == [[], ["not"]]
    assert marked(page, "He left the town.", "He found a town.") == [["left the"], ["found a"]]
    assert marked(page, "a  b", "a b") == [["  "], [" "]]


def test_a_long_line_is_cut_between_sentences_and_not_after_a_number_or_an_abbreviation(page: Any) -> None:
    steps = (
        "1. The first step says that Dr. Miller (cf. Fig. 2) saw the patient on Monday, e.g. for his back. ",
        "2. J. Smith had 5 mg. of aspirin, which is what is written in No. 7 of the list! ",
        "(3) He can go home, since the treatment has ended and he is well; nothing is left to be done. ",
        "Step 4. Nothing else.",
    )
    assert len("".join(steps)) > 240
    assert call(page, "sentences", "".join(steps) + "\n5. End.") == [*steps[:3], steps[3] + "\n", "5. End."]


TEXTS = st.text(st.characters(codec="utf-8")) | st.text("1.,:- /%$年月日MayJune \n\u0301")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, TEXTS)
def test_nothing_is_lost(page: Any, left: str, right: str) -> None:
    assert "".join(call(page, "words", left)) == left
    assert "".join(call(page, "sentences", left)) == left
    rows = call(page, "aligned", left, right)
    assert ["".join(side) for side in zip(*rows, strict=True)] == ([left, right] if rows else [])
    for one, other in rows:
        spans = call(page, "changes", [one, other])
        assert bool(spans[0] or spans[1]) == bool(one and other and one != other)
