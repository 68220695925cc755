"""`load_judge`: a judge in three lines of Python."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from html.parser import HTMLParser
from typing import Any

import pytest
from paths import REPO

import judge_r1
from judge_r1.api import LoadedJudge, load_judge
from judge_r1.core import progress
from judge_r1.core.case_store import CaseStore, CaseStoreFull
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Evidence, InvalidVerdict, Judgment
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import JudgeResult, request_of, result_of

PAIR = {"reasoning_a": "1. Ana paid. 2. So Ben owes.", "reasoning_b": "1. Ben owes."}
TURNED = {"reasoning_a": PAIR["reasoning_b"], "reasoning_b": PAIR["reasoning_a"]}
TINY = "agentic:context=none,search=false,prompt=compact,retriever=bm25,budget.response_tokens=8@bundled:tiny"
DOCS = REPO / "docs" / "judges.md"


def test_one_pair_and_many() -> None:
    judge = judge_r1.load_judge("longer")
    found = judge(context="Ana paid 34.", decision="Ben owes.", **PAIR)
    assert isinstance(found, judge_r1.JudgeResult)
    assert (judge.name, found.winner, found.valid, found.confidence) == ("longer", "A", True, None)
    assert [one.winner for one in judge.many([PAIR, TURNED, PAIR])] == ["A", "B", "A"]
    assert judge.many([]) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number from 1 on, not 0"),
        ({"batch_size": -3}, "not -3"),
        ({"temperature": float("nan")}, "temperature must be a number from 0 on, not nan"),
        ({"temperature": -1}, "not -1"),
        ({"temperature": "0"}, "not '0'"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
    ],
)
def test_wrong_sampling_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadJudge, match=f"{message}$"):
        load_judge("direct@bundled:tiny", **given)


def test_a_panel_is_among_the_judges_that_are_available() -> None:
    with pytest.raises(JudgeError, match=r"no judge is named 'xyzzy'; available: .*, panel, "):
        load_judge("xyzzy")


def test_many_shows_its_progress(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    class SlowJudge:
        name, settings = "slow", {}

        def check(self, requests: Sequence[JudgeRequest]) -> None: ...

        async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
            await asyncio.sleep(0.5)
            async for output in make_judge("longer", JudgeBuild("")).judge(requests):
                yield output

    monkeypatch.setattr(progress, "AFTER_S", 0.1)
    judge = LoadedJudge(SlowJudge(), CaseStore())
    assert len(judge.many([PAIR, TURNED])) == 2
    assert capfd.readouterr().err == "judging: 0 of 2 after 0:00:00\n"
    assert len(judge.many([PAIR, TURNED], progress=False)) == 2
    assert capfd.readouterr().err == ""


def test_works_inside_a_running_event_loop() -> None:
    async def notebook_cell() -> list[str | None]:
        judge = load_judge("longer")
        return [judge(**PAIR).winner, *(result.winner for result in judge.many([PAIR, TURNED]))]

    assert asyncio.run(notebook_cell()) == ["A", "A", "B"]


def test_a_local_model_works_inside_a_running_event_loop() -> None:
    async def notebook_cell() -> JudgeResult:
        return load_judge(TINY)(**PAIR)

    assert asyncio.run(notebook_cell()).trajectory == load_judge(TINY)(**PAIR).trajectory


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        (PAIR | {"answer_c": "x"}, "pair 1 of many: got an unexpected keyword argument 'answer_c'; valid names: reas"),
        (PAIR | {"owner": "ana"}, "unexpected keyword argument 'owner'"),
        ({"reasoning_a": "x"}, "missing a required .*argument: 'reasoning_b'"),
    ],
)
def test_a_pair_by_other_names(pair: dict[str, str], says: str) -> None:
    with pytest.raises(BadJudge, match=says):
        load_judge("longer").many([PAIR, pair])


def test_a_case_that_comes_again_is_kept_once() -> None:
    cases = CaseStore()
    judge = LoadedJudge(make_judge("longer", JudgeBuild("", texts=cases)), cases)
    judge.many([PAIR | {"context": "Ana paid."}] * 5 + [PAIR | {"context": "Ben paid."}, PAIR])
    assert sorted(cases.values()) == ["Ana paid.", "Ben paid."]


@pytest.mark.parametrize(
    ("spec", "says"), [("nobody", "nobody"), ("agentic", "names no model"), ("panel", "has no members")]
)
def test_a_spec_that_is_none(spec: str, says: str) -> None:
    with pytest.raises(JudgeError, match=says):
        load_judge(spec)


def test_a_real_model_one_at_a_time_and_together() -> None:
    judge = load_judge(TINY, batch_size=4)
    pairs = [PAIR, TURNED, PAIR | {"decision": "Ben owes 34 crowns."}]
    together, alone = judge.many(pairs), [judge(**pair) for pair in pairs]
    assert [one.trajectory.token_ids for one in together] == [one.trajectory.token_ids for one in alone]
    assert isinstance(judge.judge, AgenticJudge)
    assert not judge.judge._lengths  # nothing of a game is kept
    for one in together:  # eight tokens are too few for an answer
        assert (one.valid, one.winner, one.comparison) == (False, None, None)
        assert str(one) == f"no valid answer ({one.ended})"


def test_the_lines_of_the_docs_run_as_written() -> None:
    section = DOCS.read_text().split("## Python\n", 1)[1].split("\n## ", 1)[0]
    first = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[0]
    spec = "agentic@https://host/v1#model"
    assert spec in first
    names: dict[str, Any] = {}
    exec(first.replace(spec, TINY), names)
    assert isinstance(names["found"], JudgeResult)
    assert len(names["several"]) == 2


def judgment(explanation: str, passage: str, **more: Any) -> JudgeResult:
    evidence = (Evidence(case_id="c", start=0, end=len(passage), text=passage, score=1.0),)
    said = Judgment(comparison="A<B", violated_principles=(1, 4), explanation=explanation, evidence=evidence)
    trajectory = Trajectory.without_ids("answer", judgment=said)
    game = request_of("0", CaseStore(), **PAIR)
    return result_of(JudgeOutput(game, trajectory, game.read(trajectory), **more))


def test_it_tells_itself_in_a_line() -> None:
    found = judgment("because", "Ana paid.", confidence=0.875)
    assert (found.winner, found.comparison, found.violated_principles) == ("B", "A<B", (1, 4))
    assert str(found).startswith("B is better (confidence 0.88); the other violates ")
    assert str(found).endswith("; 0 searches")
    assert all(name in str(found) for name in found.principles)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_it_escaped() -> None:
    bad = "<script>alert('a')</script> & <img src=x onerror=y>"
    tags = Tags()
    tags.feed(judgment(bad, bad)._repr_html_())
    assert tags.tags == ["div", "strong", "p", "details", "summary", "ol", "li"]
    assert tags.text.count(bad) == 2


def test_an_invalid_answer_is_no_judgment() -> None:
    game = request_of("0", CaseStore(), **PAIR)
    trajectory = Trajectory.without_ids("turn_budget")
    found = result_of(JudgeOutput(game, trajectory, InvalidVerdict(reason="turn_budget")))
    assert (found.valid, found.ended, found.evidence, found.principles) == (False, "turn_budget", (), ())
    assert "no valid answer (turn_budget)" in found._repr_html_()
    assert "<p>" not in found._repr_html_()


def test_no_case_of_many_gives_way_to_the_next() -> None:
    cases = CaseStore(100)
    judge = LoadedJudge(make_judge("longer", JudgeBuild("", texts=cases)), cases)
    with pytest.raises(CaseStoreFull, match="no space"):
        judge.many([PAIR | {"context": str(number) * 40} for number in range(3)])
    assert [one.winner for one in judge.many([PAIR | {"context": "3" * 40}] * 3)] == ["A"] * 3


def test_judges_load_without_the_packages_of_endpoints() -> None:
    code = (
        "import sys; sys.modules |= {'aiohttp': None, 'httpx': None, 'anyio': None}; "
        "import judge_r1.cli.eval, judge_r1.judges.agentic; from judge_r1 import load_judge; "
        "print(load_judge('longer')(reasoning_a='1. No.', reasoning_b='1. No, not.').winner)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (found.stdout.strip(), found.returncode) == ("B", 0), found.stderr
