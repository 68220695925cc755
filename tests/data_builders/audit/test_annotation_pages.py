"""The pages without sockets: blind, escaped, local only, and with the rounds of `assignment`."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from audit_factories import choose, sample_pairs
from factories import make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from data_builders.audit.annotation.choices import ChoiceTask, first_round
from data_builders.audit.annotation.local_site import HEADERS, Request, Response
from data_builders.audit.annotation.record_log import RecordLog
from data_builders.audit.annotation.site import AnnotationSite
from judge_r1.files.pair_set import PairSet
from judge_r1.labels.audit_answers import Choice

DATA = sample_pairs()
HOST = "127.0.0.1:8000"


class Page(HTMLParser):
    """The parsed page: text of elements by id, attributes of fields, links, and all tags."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.ids: dict[str, str] = {}
        self.fields: list[dict[str, str | None]] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self._open: list[tuple[str, str | None]] = []
        self.feed(response.body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        if tag in ("input", "textarea"):
            self.fields.append(values)
        if tag == "a":
            self.links.append(values["href"] or "")
        if tag not in ("input", "meta", "link"):
            self._open.append((tag, values.get("id")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text += data
        for _, name in self._open:
            if name:
                self.ids[name] = self.ids.get(name, "") + data

    def value(self, name: str) -> str:
        return next(f["value"] or "" for f in self.fields if f.get("name") == name)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[AnnotationSite[Choice]]:
    with RecordLog(tmp_path / "answers.jsonl", Choice) as log:
        yield AnnotationSite(ChoiceTask(DATA), log, "token")


def get(site: AnnotationSite[Any], page: str, host: str = HOST) -> Response:
    return site.respond(Request("GET", f"/token/{page}", host))


def post(
    site: AnnotationSite[Any], origin: str | None = f"http://{HOST}", host: str = HOST, **fields: object
) -> Response:
    body = urlencode(fields, doseq=True).encode()
    return site.respond(Request("POST", "/token/answer", host, origin, body))


def answer(
    site: AnnotationSite[Any], name: str = "Ana", round_: int = 1, at: int | None = None, **fields: object
) -> Response:
    """Answers the page of a pair; without `at`, the next one."""
    page = Page(get(site, f"pair?annotator={name}&round={round_}" + (f"&at={at}" if at else "")))
    return post(site, **{"annotator": name, "round": round_, "key": page.value("key"), **fields})


def test_a_page_shows_case_and_reasonings_but_no_label(site: AnnotationSite[Choice]) -> None:
    response = get(site, "pair?annotator=Ana")
    page = Page(response)
    pair = DATA.by_id()[first_round(DATA, [], "Ana").order[0]]
    assert DATA.case_of(pair).context in page.ids["context"]
    shown = [page.ids[f"reasoning-{name}"].split("\n")[2].strip() for name in "AB"]
    assert sorted(shown) == sorted([pair.reasoning_a, pair.reasoning_b])
    html = response.body.decode()
    for secret in (pair.pair_id, "preferred", "violated", "operator", "flaw", "reference", "toy"):
        assert secret not in html


def test_a_choice_is_saved_for_the_side_that_was_shown(site: AnnotationSite[Choice]) -> None:
    for at, pair_id in enumerate(first_round(DATA, [], "Ana").order, 1):
        pair = DATA.by_id()[pair_id]
        better = "A" if pair.reference in Page(get(site, f"pair?annotator=Ana&at={at}")).ids["reasoning-A"] else "B"
        response = answer(site, choice=better, principle=[2, 4], note="line\r\ntwo")
        assert response.status == 303
        assert response.headers["Location"] == "/token/pair?annotator=Ana&round=1"
        saved = site.log.answers[-1]
        assert (saved.pair_id, saved.choice, saved.principles) == (pair_id, pair.preferred, (2, 4))
        assert saved.note == "line\ntwo"
        assert (saved.shown_first == pair.preferred) == (better == "A")
        again = Page(get(site, f"pair?annotator=Ana&at={at}"))
        checked = {(f["name"], f["value"]) for f in again.fields if "checked" in f and f.get("name")}
        assert checked == {("choice", better), ("principle", "2"), ("principle", "4")}
        assert at == 12 or f"Pair {at + 1} of 12" in Page(get(site, "pair?annotator=Ana")).text


def test_two_rounds_to_the_end(site: AnnotationSite[Choice]) -> None:
    for n, pair in enumerate(DATA.pairs):
        site.log.append(choose(pair, n > 2))
    done = Page(get(site, "pair?annotator=Ana"))
    assert "In round 2 you see 3 pairs again" in done.text
    assert "pair?annotator=Ana&round=2" in done.links
    for _ in range(3):
        assert answer(site, choice="A", round_=2).status == 303
    assert "You have finished" in Page(get(site, "pair?annotator=Ana")).text
    assert {a.pair_id for a in site.log.answers if a.round == 2} == {p.pair_id for p in DATA.pairs[:3]}
    rejected = post(site, annotator="Ana", round=1, key="x", choice="A")
    assert rejected.status == 409
    assert "can no longer change" in Page(rejected).text
    start = Page(get(site, ""))
    assert "12 of 12, second round 3 of 3" in start.text


def test_the_second_round_requires_a_complete_first(site: AnnotationSite[Choice]) -> None:
    assert "round 1" in Page(get(site, "pair?annotator=Ana&round=2")).text
    assert post(site, annotator="Ana", round=2, key="x", choice="A").status == 409


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"choice": "C"}, 400, "Choose A or B first."),
        ({"choice": []}, 400, "Choose A or B first."),
        ({"choice": ["A", "B"]}, 400, "exactly one field choice"),
        ({"key": "other"}, 409, "no longer in this round"),
        ({"round": 3}, 400, "must be 1 or 2"),
        ({"annotator": " "}, 400, "A name must have 1 to 40 characters"),
        ({"annotator": "x" * 41}, 400, "A name must have 1 to 40 characters"),
        ({"note": "x" * 2001}, 400, "The answer was not saved: field note"),
        ({"many": list(range(30))}, 400, "cannot be read"),
    ],
)
def test_invalid_answers_are_rejected_with_a_message(
    site: AnnotationSite[Choice], fields: dict[str, object], status: int, sentence: str
) -> None:
    response = answer(site, **{"choice": "A", **fields})
    assert response.status == status
    assert sentence in Page(response).text
    assert not site.log.answers


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (Request("GET", "/", HOST), 404),
        (Request("GET", "/Token/", HOST), 404),
        (Request("GET", "/token/", "evil.example:8000"), 403),
        (Request("GET", "/token/", ""), 403),
        (Request("GET", "/token/", "[::"), 400),
        (Request("GET", "/token/", "localhost"), 200),
        (Request("GET", "/token/../answers.jsonl", HOST), 404),
        (Request("GET", "/token/audit.css?x", HOST), 200),
        (Request("GET", "/token/pair.html", HOST), 404),
        (Request("GET", "/token/pair", HOST), 400),
        (Request("GET", "/token/pair?annotator=Ana&at=0", HOST), 404),
        (Request("GET", "/token/pair?annotator=Ana&at=13", HOST), 404),
        (Request("GET", "/token/pair?annotator=%ff", HOST), 400),
        (Request("GET", "/token/pair?annotator=\u00e9", HOST), 400),
        (Request("GET", "//[/", HOST), 400),
        (Request("POST", "/token/", HOST), 404),
        (Request("POST", "/token/answer", HOST, "http://evil.example", b""), 403),
        (Request("POST", "/token/answer", HOST, "null", b""), 403),
        (Request("POST", "/token/answer", HOST, f"http://{HOST}", b"\xff\xfe"), 400),
    ],
)
def test_only_existing_local_pages_are_served(site: AnnotationSite[Choice], request_: Request, status: int) -> None:
    assert site.respond(request_).status == status


@given(text=st.text(min_size=1).filter(lambda t: t.strip()), name=st.text(min_size=1, max_size=40))
def test_untrusted_text_is_escaped(tmp_path_factory: pytest.TempPathFactory, text: str, name: str) -> None:
    evil = f"{text}</div></section><script>alert(1)</script>&amp;<img src=x onerror=alert(1)>"
    case = make_case(evil, decision=evil, reference=f"1. {evil}")
    data = PairSet.of([case], [make_pair(case, f"2. {evil}")])
    with RecordLog(tmp_path_factory.mktemp("evil") / "answers.jsonl", Choice) as log:
        site = AnnotationSite(ChoiceTask(data), log, "token")
        page = Page(get(site, f"pair?{urlencode({'annotator': name})}"))
        if " ".join(name.split()).isprintable() and name.split():
            assert page.tags.count("script") == 1  # audit.js
            assert "img" not in page.tags
            assert "alert(1)" in page.ids["context"]
            shown = page.ids["context"].replace("\r\n", "\n").replace("\r", "\n")
            assert evil.replace("\r\n", "\n").replace("\r", "\n") in shown
        else:
            assert "A name must have" in page.text


def test_the_policy_allows_only_the_own_style_and_script(site: AnnotationSite[Choice]) -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    site.log.append(choose(DATA.pairs[0], True))
    for page in ("", "pair?annotator=Ana", "pair?annotator=Ana&at=99", "audit.css", "audit.js"):
        html = get(site, page).body.decode()
        assert not re.search(r"https?:|//cdn|<style|\sstyle=|\son\w+=|javascript:", html)
    inline = re.findall(r"<script[^>]*>(.*?)</script>", get(site, "").body.decode(), re.S)
    assert inline == [""]
