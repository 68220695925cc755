"""The report page: complete, deterministic, and without foreign markup."""

import base64
import gzip
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from evaluation_factories import DOMAINS, passage
from report_factories import (
    first_shown,
    gold_verdict,
    item_results,
    pair_results,
    plain_suite,
    summary_of,
    toy_results,
    write,
)

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span, Trajectory, Turn
from judge_r1.episode.reward import with_reward
from judge_r1.evaluation.report.page import ReportError, plots, report_page
from judge_r1.evaluation.results import PanelResults
from judge_r1.files.pair_set import PairSet

EVIL = '</script><script>alert(1)</script><img src=x onerror="alert(2)"> & <think>'
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page, and that every one that opens is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def of(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.elements if t == tag and all(a.get(k.rstrip("_")) == v for k, v in wanted.items())]


RESULTS = toy_results()


def data_of(text: str) -> dict[str, Any]:
    """What the page's vote browser is given."""
    (packed,) = re.findall(r'<script type="application/gzip" id="data">(.*?)</script>', text, re.DOTALL)
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return found


def evil_results() -> list[PanelResults]:
    """Every text that an evaluation holds is markup."""
    context = f"{EVIL} was said."
    case = Case.of(domain="legal", context=context, decision=EVIL, reference=f"{EVIL} good", source="s", license="l")
    flaw = Flaw(principle=2, operator=EVIL, span=Span(start=3, end=30), context_spans=(Span(start=2, end=25),))
    origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
    pair = ReasoningPair.of(case, f"{EVIL} bad", variant=1, origin=origin, seed=0)
    turns = (
        Turn(text=f"{EVIL}</think><search>{EVIL}</search>", query=EVIL, notice=None,
             passages=(passage(pair, 0, len(context), context), passage(pair, 0, 9, EVIL)), observation=EVIL),
        Turn(text=f"<answer>{EVIL}</answer>", query="q", notice=EVIL),
    )  # fmt: skip
    blank = Trajectory(prompt_ids=(), token_ids=(), loss_mask=(), logprobs=(), turns=turns, judgment=None, ended=EVIL)
    suite = pair_benchmark(PairSet({case.case_id: case}, [pair]))
    return [pair_results(EVIL, suite, lambda pair: with_reward(blank, pair))]


def test_report_is_complete_and_deterministic(tmp_path: Path) -> None:
    text = write(tmp_path / "report.html", RESULTS)
    page = Page(text)
    words = " ".join(page.words)
    for part in ("Overall", "Accuracy by principle", "Differences", "tuned minus base", "P2 Factual Consistency"):
        assert part in words
    data = data_of(text)
    assert data["judges"] == ["base", "tuned"]
    assert [item["id"] for item in data["items"]] == [item.item_id for item in RESULTS[0].benchmark.items]
    assert all(len(item["results"]) == 2 and all(row["votes"] for row in item["results"]) for item in data["items"])
    assert {row["state"] for item in data["items"] for row in item["results"]} >= {"right", "wrong"}
    assert {a["href"] for a in page.of("a")} == {f"#{a['id']}" for a in page.of("section")}
    assert text == write(tmp_path / "again.html", RESULTS)


def test_report_loads_nothing_and_runs_only_its_own_script(tmp_path: Path) -> None:
    text = write(tmp_path / "report.html", RESULTS)
    page = Page(text)
    assert not re.search(r"https?://|//cdn|@import|url\(", text)
    assert not [a for _, a in page.elements if "src" in a or any(key.startswith("on") for key in a)]
    assert not page.of("link")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [a["content"] for a in page.of("meta") if "http-equiv" in a]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", script)
    kinds = sorted(a.get("type") or "" for a in page.of("script"))
    assert kinds == ["", "application/gzip", "application/json"]


def test_untrusted_text_never_becomes_markup(tmp_path: Path) -> None:
    results = evil_results()
    summary = summary_of(results) | {"seconds": {EVIL: 1.0}}
    summary["rows"][0]["settings"] = {EVIL: EVIL}
    metrics = {EVIL: [{"step": 0, EVIL: 1.0, "loss": 2}, {"step": 1, EVIL: 2.0, "loss": 1}]}
    text = "".join(report_page(tmp_path, summary, metrics, results, title=EVIL))
    page = Page(text)
    assert len(page.of("script")) == 3
    assert not page.of("img")
    assert not page.of("think")
    assert "alert(1)" not in "".join(re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL))
    assert "".join(page.words).count("alert(2)") > 8
    assert EVIL in data_of(text)["texts"]


def test_benchmark_without_principles_has_a_report(tmp_path: Path) -> None:
    suite = plain_suite([("good", "bad"), ("bad", "good"), ("left", "right")])
    results = [item_results("first", suite, first_shown), item_results("gold", suite, gold_verdict)]
    page = Page(text := write(tmp_path / "report.html", results))
    words = " ".join(page.words)
    assert "toybench" in words
    assert "Both orders" in words
    assert not [a for a in page.of("select") if a.get("name") == "principle"]
    first, gold = data_of(text)["items"][0]["results"]
    assert (first["verdict"], first["state"], gold["verdict"], gold["state"]) == (
        "tie", "wrong", "A is better", "right",
    )  # fmt: skip
    assert [game["verdict"] for game in first["votes"]] == ["A is better", "B is better"]


def test_position_table_needs_both_orders(tmp_path: Path) -> None:
    assert "Both orders" not in " ".join(Page(write(tmp_path / "report.html", RESULTS)).words)


def test_curves_have_one_line_per_run_and_report_non_finite_values(tmp_path: Path) -> None:
    runs = {
        "warm-up": [{"step": s, "loss": 2.0 - s / 10, "note": "x", "odd": 1} for s in range(5)],
        "grpo": [{"step": s, "loss": float("nan") if s == 2 else 1.0, "r/P2": s / 5, "lr": 0.1} for s in range(5)],
    }
    text = write(tmp_path / "report.html", RESULTS, metrics=runs)
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text[text.index('id="curves"') :])
    assert captions == ["loss", "odd", "r/P2", "lr"]
    assert text.count("Not drawn, because not finite: 1 value.") == 1
    assert "3 more curves" in text
    loss = text[text.index("<figcaption>loss") : text.index("</figure>", text.index("<figcaption>loss"))]
    assert (loss.count('class="line c0"'), loss.count('class="line c1"')) == (1, 1)
    with pytest.raises(ReportError, match="row 2 of the metrics of run 'r' has no step"):
        write(tmp_path / "report.html", RESULTS, metrics={"r": [{"step": 1}, {"loss": 2}]})


def test_report_without_curves_and_episodes_is_complete(tmp_path: Path) -> None:
    page = Page("".join(report_page(tmp_path, summary_of(RESULTS), {})))
    assert {a["id"] for a in page.of("section")} == {"leaderboard", "results", "settings"}
    assert len(page.of("script")) == 1


def test_missing_jinja_is_reported_with_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ReportError, match="pip install"):
        write(tmp_path / "report.html", RESULTS)


def test_too_many_judges_are_not_plotted() -> None:
    summary = summary_of(RESULTS)
    assert [figure.title for figure in plots(summary)] == ["Overall", "Accuracy by domain", "Accuracy by principle"]
    assert plots(summary | {"rows": summary["rows"] * 5}) == []


def test_all_domains_are_shown(tmp_path: Path) -> None:
    words = " ".join(Page(write(tmp_path / "report.html", RESULTS)).words)
    assert all(domain in words for domain in DOMAINS)


def test_published_judges_stand_beside_those_of_an_evaluation(tmp_path: Path) -> None:
    summary = {**summary_of(RESULTS), "benchmark": "llmbar", "subset": "Neighbor"}
    words = " ".join(Page("".join(report_page(tmp_path, summary, {}))).words)
    assert "GPT-4 Vanilla (published)" in words
    assert "not measured here" in words
    own = " ".join(Page("".join(report_page(tmp_path, {**summary, "subset": "unknown"}, {}))).words)
    assert "(published)" not in own
