"""Statistics count what a judge would read, in a named tokenizer's tokens, and draw it."""

import json
import xml.etree.ElementTree as ET
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from audit_factories import DOMAINS, toy_set
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from data_builders.audit.dataset_stats import Lengths, Statistics, as_json, statistics
from data_builders.audit.stats_report import figures, print_statistics, write_page
from judge_r1.episode.prompts import judge_prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer

DATA = toy_set(9)


@pytest.fixture(scope="module")
def codec() -> SafeTokenizer:
    return SafeTokenizer(load_tokenizer("bundled:tiny"))


@pytest.fixture(scope="module")
def found(codec: SafeTokenizer) -> Statistics:
    return statistics(DATA, codec, "bundled:tiny")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40))
def test_lengths_are_quantiles(values: list[int]) -> None:
    lengths = Lengths.of(values)
    assert lengths.n == len(values)
    assert lengths.longest == max(values)
    assert lengths.mean == pytest.approx(sum(values) / len(values))
    for share, bound in ((0.1, lengths.p10), (0.5, lengths.median), (0.9, lengths.p90)):
        assert sum(v <= bound for v in values) >= share * len(values) - 1e-9
        assert sum(v < bound for v in values) < share * len(values) + 1e-9


def test_prompts_are_measured_as_a_judge_reads_them(found: Statistics, codec: SafeTokenizer) -> None:
    words, tokens = [], []
    for pair in DATA.pairs:
        messages = judge_prompt(pair, DATA.case_of(pair), context="full", searches=0).chat()
        words.append(sum(len(message["content"].split()) for message in messages))
        tokens.append(sum(len(codec.encode_trusted(message["content"])) for message in messages))
    assert found.overall.prompt_words.mean == pytest.approx(sum(words) / len(words))
    # Inserted text is encoded apart, as the judge's codec does: a token more or less at each seam.
    assert found.overall.prompt_tokens.mean == pytest.approx(sum(tokens) / len(tokens), rel=0.02)
    context = max(len(codec.encode_untrusted(case.context)) for case in DATA.cases.values())
    assert found.overall.context_tokens.longest == context


def test_domains_add_up(found: Statistics) -> None:
    assert tuple(found.domains) == DOMAINS
    groups = found.domains.values()
    assert sum(g.pairs for g in groups) == found.overall.pairs == 18
    assert sum(g.cases for g in groups) == found.overall.cases == 9
    assert sum(g.a_better for g in groups) == found.overall.a_better
    violated = Counter(f"P{n}" for pair in DATA.pairs for n in pair.violated)
    assert found.overall.principles == {f"P{n}": violated[f"P{n}"] for n in range(1, 7)}
    for group in (*groups, found.overall):
        assert sum(found.histogram(group)) == group.cases
    assert found.edges[-1] > found.overall.context_tokens.longest


def test_json_is_plain_and_the_same_again(found: Statistics, codec: SafeTokenizer) -> None:
    content = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert content == json.loads(json.dumps(as_json(statistics(DATA, codec, "bundled:tiny"))))
    assert content["overall"]["prompt_tokens"]["n"] == 18
    assert content["tokenizer"] == "bundled:tiny"


def test_figures_have_a_bar_for_everything(found: Statistics) -> None:
    balance, principles, contexts = (ET.fromstring(svg) for _, svg in figures(found))
    assert len(balance.findall("rect")) == 2 * 3
    assert len(principles.findall("rect")) == 6 * 3
    assert len(contexts.findall("rect")) == 3 * (len(found.edges) - 1)


def test_page_and_table_hold_the_numbers(found: Statistics, tmp_path: Path) -> None:
    write_page(found, tmp_path / "stats.html")
    page = (tmp_path / "stats.html").read_text(encoding="utf-8")
    out = StringIO()
    print_statistics(found, Console(file=out, width=140))
    for domain in DOMAINS:
        assert domain in page
        assert domain in out.getvalue()
    mean = f"{found.overall.prompt_tokens.mean:,.1f}"
    assert mean in page
    assert mean in out.getvalue()
    assert page.count("<svg") == 3
    assert "http" not in page.replace("http-equiv", "")
