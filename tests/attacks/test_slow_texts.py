"""Long repetitive texts: what reads teachers' answers and corpora takes linear time, and finds the same as before."""

import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from process_faults import short_and_long

from data_builders.perturb.pair_checks import content_tokens, find_leak_marker
from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.operators import statements
from data_builders.perturb.teacher.answer_parser import parse_answer
from data_builders.perturb.trace_conduct import conduct
from data_builders.prompts import guard
from data_builders.rationales.turn_parser import thoughts_of
from data_builders.second_opinion import read_opinion
from data_builders.sources.corpus_io import clean, one_line
from data_builders.sources.deepreview import review_sections
from data_builders.sources.echr import split_judgment
from data_builders.sources.elife import decided
from data_builders.sources.medrbench import _without_rule, report_before_discussion
from data_builders.sources.pilot import named_articles
from data_builders.sources.review_steps import review_steps
from data_builders.sources.text_grounding import missing_numbers, quotations, runs
from data_builders.sources.text_repair import Changes
from data_builders.splits.near_duplicates import shingles
from data_builders.text_units.steps import Step, numbering, split_steps
from data_builders.text_units.text_match import content_words
from judge_r1.core.records import Case
from judge_r1.traces.trace import EventSpan

LENGTH, LONG_LENGTH = 20_000, 400_000
"""Characters of a text, in the short and in the long form."""
SECONDS = 2.0
"""Processor time that one text may take in all readers together for each 20,000 characters."""
REFERENCE = 4_000
"""Characters of a reference for the operators."""
PARTS = [
    *("\n", " ", "\r\n", "\n*_", "a", "1", '"', "“", "”", "(", "[", "{", "**", "`", "#", "</", "- ", "1, ", "1. "),
    *("<think>", "<search>", "Worse:", "Worse: A\n", "Flawed Variant 1:\n", "Violated Principles: [1, "),
    *("Article 1 (a), ", "a.b", "a. B ", "A.", "Mr A ", "Court ", "1 January ", "see ", "because x ", "should "),
    *("the patient ", "(e.g. ", "THE FACTS\n", "\\boxed_review{", "\n}", "Reviewer 1"),
    *("rm ", "cp a ", "do not change ", "leave ", "a/", "a. > ", "exit code ", "*** Update File: a"),
    *("He ", ": a ", "he is no farmer ", "He lived in prison "),
]
READERS: dict[str, Callable[[str], Any]] = {
    "opinion": lambda text: read_opinion("pair", "verifier", text),
    "single variants": lambda text: parse_answer(text, [1, 2], "single"),
    "variants below other headings": lambda text: parse_answer(f"Variant 1:{text}", [1], "single", reference="1. a"),
    "multi variants": lambda text: parse_answer(f"Flawed Variant 1:\n{text}", [1], "multi"),
    "turn": lambda text: thoughts_of(f"<think>{text}"),
    "leak marker": lambda text: find_leak_marker("", text),
    "list of a review": lambda text: review_steps([{"ntype": "list", "content": text}], "here", Changes()),
    "numbers": lambda text: missing_numbers(text, text),
    "runs": lambda text: runs(text, 8),
    "decision": lambda text: decided([text]),
    "conduct": lambda text: conduct(
        [
            EventSpan("", place, kind, name, False, None, place, place + 1, text)
            for place, (kind, name) in enumerate((("message", "user"), ("call", "edit"), ("result", "edit")))
        ]
    ),
    "tags": lambda text: guard(text, "case", "task"),
    "statements": lambda text: list(statements(Step(0, 0, len(text), text))),
    **{
        function.__name__: function
        for function in (
            *(clean, one_line, split_steps, numbering, content_words, content_tokens, shingles, quotations),
            *(report_before_discussion, _without_rule, split_judgment, named_articles, review_sections),
        )
    },
}


def seconds_of(works: Iterable[Callable[[], object]]) -> float:
    started = time.process_time()
    for work in works:
        work()
    return time.process_time() - started


@pytest.mark.parametrize("length", short_and_long(LENGTH, LONG_LENGTH))
@pytest.mark.parametrize("part", PARTS)
def test_readers_take_linear_time(part: str, length: int, attacks: Callable[[str, int], None]) -> None:
    texts = [(part * length)[:length] + end for end in ("", "x")]
    spent = {name: seconds_of(partial(read, text) for text in texts) for name, read in READERS.items()}
    assert sum(spent.values()) < SECONDS * length / LENGTH, sorted(spent.items(), key=lambda item: -item[1])[:3]
    attacks("long repetitive text for a reader of answers or corpora", len(texts) * len(spent))


@pytest.mark.parametrize("part", PARTS)
def test_operators_read_a_long_step_in_seconds(part: str, attacks: Callable[[str, int], None]) -> None:
    context = "The letter was read by Mr Kowal on 14 May 2003. The " + (part * REFERENCE)[:REFERENCE] + "."
    case = Case.of(domain="legal", context=context, decision="d", reference=context, source="toy", license="none")
    step = Step(0, 0, len(context), context)
    rules = list(chain.from_iterable(operators("text").values()))
    works = [lambda rule=rule: list(rule.apply(case, step, Random(0))) for rule in rules]
    assert seconds_of(works) < 3 * SECONDS
    attacks("long repetitive text for an operator", len(rules))


PIECES = st.lists(
    st.sampled_from(["“", "”", '"', "\n", "a", "bc ", " ", "\r", "---", "--", "Worse: A", "*", "\x0c"]), max_size=24
)


@given(PIECES)
def test_quotations_are_those_of_the_plain_pattern(pieces: list[str]) -> None:
    text = "".join(pieces)
    plain = re.compile(r'"([^"\n]+)"|“([^”\n]+)”')
    assert quotations(text) == [match[1] or match[2] for match in plain.finditer(text)]


@given(PIECES)
def test_the_rule_at_the_end_is_that_of_the_plain_pattern(pieces: list[str]) -> None:
    text = clean("".join(pieces))
    assert _without_rule(text) == re.sub(r"(?:^|\n)\s*-{3,}\s*$", "", text).rstrip()


@given(PIECES)
def test_an_opinion_is_that_of_the_plain_pattern(pieces: list[str]) -> None:
    text = "".join(pieces)
    plain = re.findall(r"^[\s*_#]*Worse[*_]*\s*:[\s*_]*(?:Reasoning\s+)?([AB])\b[\s*_.]*$", text, re.I | re.M)
    opinion = read_opinion("pair", "verifier", f"{text}\nViolated Principles: [1]")
    assert (opinion.worse is not None) == (len(plain) == 1)
