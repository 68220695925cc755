import base64
import hashlib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from evaluation_toys import DOMAINS, ScriptedJudge, passage, toy_pairs, toy_trajectory
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.evaluation.outcomes import outcome
from judge_r1.evaluation.report import Episode, ReportError, marked, write_report
from judge_r1.evaluation.summary import summarise
from judge_r1.records import Case, Flaw, Origin, ReasoningPair, Span, Trajectory, Turn
from judge_r1.reward import rewarded

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


PAIRS = toy_pairs(3)
JUDGES = {name: ScriptedJudge(name, skill) for name, skill in (("base", 2), ("tuned", 8))}
EPISODES = [Episode(name, pair, judge.one(pair)) for name, judge in JUDGES.items() for pair in PAIRS]


def summary_of(episodes: list[Episode]) -> dict[str, Any]:
    names = list(dict.fromkeys(e.row for e in episodes))
    outcomes = {n: [outcome(n, e.pair, e.trajectory) for e in episodes if e.row == n] for n in names}
    return summarise(outcomes, list(zip(names[1:], names, strict=False)), {"all": 3.0}, {n: {"t": 0} for n in names})


def write(tmp_path: Path, episodes: list[Episode] = EPISODES, **more: Any) -> str:
    path = tmp_path / "report.html"
    write_report(path, summary_of(episodes), more.pop("metrics", {}), episodes, **more)
    return path.read_text(encoding="utf-8")


def test_the_page_holds_every_table_and_episode_and_repeats_byte_for_byte(tmp_path: Path) -> None:
    text = write(tmp_path)
    page = Page(text)
    assert len(page.of("details", class_="episode")) == len(EPISODES)
    words = " ".join(page.words)
    for part in (
        "Overall",
        "Accuracy by principle",
        "Differences",
        "tuned minus base",
    ):
        assert part in words
    verdicts = {a["data-verdict"] for a in page.of("details", class_="episode")}
    assert verdicts >= {"right", "wrong"}
    assert text == write(tmp_path)


def test_the_page_loads_nothing_and_runs_its_own_script_only(tmp_path: Path) -> None:
    text = write(tmp_path)
    page = Page(text)
    assert not re.search(r"https?://|//cdn|@import|url\(", text)
    assert not [a for _, a in page.elements if "src" in a or any(key.startswith("on") for key in a)]
    assert not page.of("link")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [a["content"] for a in page.of("meta") if "http-equiv" in a]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_no_text_of_cases_judges_or_runs_becomes_markup(tmp_path: Path) -> None:
    context = f"{EVIL} was said."
    case = Case.of(domain="legal", context=context, decision="d", reference=f"{EVIL} good", source="s", license="l")
    flaw = Flaw(principle=2, operator=EVIL, span=Span(start=3, end=30), context_spans=(Span(start=2, end=25),))
    origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
    pair = ReasoningPair.of(case, f"{EVIL} bad", variant=1, origin=origin, seed=0)
    turns = (
        Turn(text=f"{EVIL}</think><search>{EVIL}</search>", query=EVIL, notice=None,
             passages=(passage(pair, 0, len(context), context),), observation=EVIL),
        Turn(text=f"<answer>{EVIL}</answer>", query="q", notice=EVIL),
    )  # fmt: skip
    blank = Trajectory(prompt_ids=(), token_ids=(), loss_mask=(), logprobs=(), turns=turns, judgment=None, ended=EVIL)
    episodes = [Episode(EVIL, pair, rewarded(blank, pair))]
    summary = summarise({EVIL: [outcome(*episodes[0])]}, [], {EVIL: 1.0}, {EVIL: {EVIL: EVIL}})
    metrics = {EVIL: [{"step": 0, EVIL: 1.0, "loss": 2}, {"step": 1, EVIL: 2.0, "loss": 1}]}
    path = tmp_path / "report.html"
    write_report(path, summary, metrics, episodes, title=EVIL)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert len(page.of("script")) == 1
    assert not page.of("img")
    assert not page.of("think")
    assert "alert(1)" not in re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[0]
    assert "".join(page.words).count("alert(2)") > 10


def test_the_flaw_and_the_evidence_against_it_are_marked(tmp_path: Path) -> None:
    pair = next(p for p in PAIRS if p.violated == (2,))
    context = "Witness 0 of file 0 paid 20 crowns."
    judged = toy_trajectory(pair, pair.gold.comparison, (2,), shown=[passage(pair, 0, len(context), context)])
    text = write(tmp_path, [Episode("row", pair, judged)])
    (flaw,) = re.findall(r'<mark class="at-flaw">(.*?)<span class="tag">(.*?)</span></mark>', text)
    span = pair.origin.flaws[0].span
    assert flaw == (pair.flawed[span.start : span.end], "P2 toy-2")
    (hit,) = re.findall(r'<mark class="at-hit">(.*?)<span', text)
    assert hit == context[:20]
    assert 'class="passage hit"' in text


def test_episodes_carry_what_the_filter_asks_for(tmp_path: Path) -> None:
    page = Page(write(tmp_path))
    for shown, episode in zip(page.of("details", class_="episode"), EPISODES, strict=True):
        assert shown["data-row"] == episode.row
        assert shown["data-principles"] == " ".join(map(str, episode.pair.violated))
        judgment = episode.trajectory.judgment
        right = judgment is not None and judgment.comparison == episode.pair.gold.comparison
        assert shown["data-verdict"] == ("invalid" if judgment is None else "right" if right else "wrong")
    assert {a.get("name") for a in page.of("select")} == {"row", "verdict", "principle"}


def test_curves_are_drawn_by_run_and_broken_values_are_told(tmp_path: Path) -> None:
    runs = {
        "warm-up": [{"step": s, "loss": 2.0 - s / 10, "note": "x", "odd": 1} for s in range(5)],
        "grpo": [{"step": s, "loss": float("nan") if s == 2 else 1.0, "r/P2": s / 5, "lr": 0.1} for s in range(5)],
    }
    text = write(tmp_path, metrics=runs)
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert captions == ["loss", "odd", "r/P2", "lr"]
    assert text.count("1 value(s) were not finite") == 1
    assert "3 more curves" in text
    loss = text[text.index("<figcaption>loss") : text.index("</figure>")]
    assert (loss.count('class="line c0"'), loss.count('class="line c1"')) == (1, 1)
    with pytest.raises(ReportError, match="row 2 of the metrics of run 'r' has no step"):
        write(tmp_path, metrics={"r": [{"step": 1}, {"loss": 2}]})


def test_a_report_without_curves_and_episodes_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, summary_of(EPISODES), {}, [])
    page = Page(path.read_text(encoding="utf-8"))
    assert not page.of("details")
    assert not page.of("section", id="curves")


def test_without_jinja_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ReportError, match="pip install"):
        write(tmp_path)


SPANS = st.lists(st.tuples(st.integers(-5, 25), st.integers(1, 20), st.sampled_from("xy")), max_size=4)


@given(st.text(max_size=20), SPANS)
def test_marks_cover_exactly_their_spans_and_lose_no_text(text: str, raw: list[tuple[int, int, str]]) -> None:
    spans = [(start, start + length, mark) for start, length, mark in raw]
    pieces = marked(text, spans)
    assert "".join(piece.text for piece in pieces) == text
    marks = [set((piece.mark or "").split(", ")) - {""} for piece in pieces for _ in piece.text]
    assert marks == [{mark for start, end, mark in spans if start <= at < end} for at in range(len(text))]


def test_toy_domains_are_all_shown(tmp_path: Path) -> None:
    words = " ".join(Page(write(tmp_path)).words)
    assert all(domain in words for domain in DOMAINS)
