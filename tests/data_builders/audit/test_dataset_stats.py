"""Statistics measure the prompts of a judge in tokens and words, and are written as JSON, table and page."""

from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from audit_factories import DOMAINS, sample_pairs
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from data_builders.audit.dataset_stats import DatasetStats, Lengths, compute_stats
from data_builders.audit.stats_report import print_statistics, published, write_page
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import judge_prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer

DATA = sample_pairs(9)


@pytest.fixture(scope="module")
def tokenizer() -> SafeTokenizer:
    return SafeTokenizer(load_tokenizer("bundled:tiny"))


@pytest.fixture(scope="module")
def stats(tokenizer: SafeTokenizer) -> DatasetStats:
    return compute_stats(DATA, tokenizer, "bundled:tiny")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40))
def test_lengths_are_quantiles(values: list[int]) -> None:
    lengths = Lengths.of(values)
    assert lengths.n == len(values)
    assert lengths.longest == max(values)
    assert lengths.mean == pytest.approx(sum(values) / len(values))
    for share, bound in ((0.1, lengths.p10), (0.5, lengths.median), (0.9, lengths.p90)):
        assert sum(v <= bound for v in values) >= share * len(values) - 1e-9
        assert sum(v < bound for v in values) < share * len(values) + 1e-9


def test_prompt_lengths_match_the_judge_prompt(stats: DatasetStats, tokenizer: SafeTokenizer) -> None:
    words, tokens = [], []
    for pair in DATA.pairs:
        messages = judge_prompt(pair, DATA.case_of(pair), context="full", searches=0).chat()
        words.append(sum(len(message["content"].split()) for message in messages))
        tokens.append(sum(len(tokenizer.encode_trusted(message["content"])) for message in messages))
    assert stats.overall.prompt_words.mean == pytest.approx(sum(words) / len(words))
    # Untrusted text is encoded separately, which can change a token at each boundary.
    assert stats.overall.prompt_tokens.mean == pytest.approx(sum(tokens) / len(tokens), rel=0.02)
    context = max(len(tokenizer.encode_untrusted(case.context)) for case in DATA.cases.values())
    assert stats.overall.context_tokens.longest == context


def test_domains_add_up(stats: DatasetStats) -> None:
    assert tuple(stats.domains) == DOMAINS
    groups = stats.domains.values()
    assert sum(g.pairs for g in groups) == stats.overall.pairs == 18
    assert sum(g.cases for g in groups) == stats.overall.cases == 9
    assert sum(g.a_better for g in groups) == stats.overall.a_better
    violated = Counter(f"P{n}" for pair in DATA.pairs for n in pair.violated)
    assert stats.overall.principles == {f"P{n}": violated[f"P{n}"] for n in range(1, 7)}
    for group in (*groups, stats.overall):
        assert sum(stats.histogram(group)) == group.cases
    assert stats.edges[-1] > stats.overall.context_tokens.longest


def test_page_and_table_contain_the_numbers(stats: DatasetStats, tmp_path: Path) -> None:
    write_page(stats, tmp_path / "stats.html")
    page = (tmp_path / "stats.html").read_text(encoding="utf-8")
    out = StringIO()
    print_statistics(stats, Console(file=out, width=140))
    for domain in DOMAINS:
        assert domain in page
        assert domain in out.getvalue()
    mean = f"{stats.overall.prompt_tokens.mean:,.1f}"
    assert mean in page
    assert mean in out.getvalue()
    assert page.count("<svg") == 3
    assert "http" not in page.replace("http-equiv", "")


def test_the_tables_of_the_paper_have_this_set_beside_them(stats: DatasetStats, tmp_path: Path) -> None:
    content = published(stats)
    *printed, own = content["table_1"]
    assert [(row["dataset"], row["pairs"], row["prompt_tokens"]) for row in printed] == [
        ("PandaLM", 287_858, 148.7),
        ("JudgeLM", 104_647, 377.1),
        ("JudgeBench", 350, 1396.0),
        ("LRBench", 105_290, 3090.3),
    ]
    assert (own["pairs"], own["prompt_tokens"]) == (18, round(stats.overall.prompt_tokens.mean, 1))
    shares = content["figure_3_percent"]
    assert shares["A>B"] + shares["A<B"] == pytest.approx(100)
    assert sum(share for name, share in shares.items() if name[0] == "P") == pytest.approx(100, abs=0.3)
    out = StringIO()
    print_statistics(stats, Console(file=out, width=140))
    write_page(stats, tmp_path / "stats.html")
    for text in (out.getvalue(), (tmp_path / "stats.html").read_text("utf-8")):
        for number in ("105,290", "3,090.3", f"{shares['P2']:.1f} %", "not printed"):
            assert number in text


def test_prompts_of_an_episode_are_measured_with_their_chat_template(tokenizer: SafeTokenizer) -> None:
    config = EpisodeConfig(context="none", prompt="compact", prompt_tokens=400)
    stats = compute_stats(DATA, tokenizer, "bundled:tiny", config)
    lengths = []
    for pair in DATA.pairs:
        prompt = judge_prompt(pair, DATA.case_of(pair), context="none", searches=3, style="compact")
        lengths.append(len(tokenizer.prompt_ids(prompt, thinking=False)))
    assert (stats.overall.prompt_tokens.n, stats.overall.prompt_tokens.longest) == (len(lengths), max(lengths))
    assert stats.overall.prompt_tokens.mean == pytest.approx(sum(lengths) / len(lengths))
