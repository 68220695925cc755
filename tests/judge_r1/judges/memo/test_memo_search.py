"""Notes as a searchable memory: what is indexed, what the agent is shown, and what it costs."""

import asyncio
import json
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer, chat_completion, error_response

from judge_r1.benchmarks.base import pairwise_request
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.items import Item
from judge_r1.core.memory import DocumentMemory, SectionNote, text_hash
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput, run_all
from judge_r1.judges.memo.config import FORMS
from judge_r1.judges.memo.metrics import parse_metrics
from judge_r1.judges.memo.prompts import rating_prompt
from judge_r1.judges.memo.search_judge import MemoSearchJudge, document_lines, note_lines, searchable_text, stand_in
from judge_r1.judges.memo.text_model import WordCounter, scan
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import CustomPrompt, JudgeRequest

GOOD, BAD = "The ship sailed at dawn. The crew sang.", "The ship sialed at dawn. The crew snag."
MEMORY = DocumentMemory(
    document="d",
    metrics=("fluency",),
    sections=(
        SectionNote(
            number=2, start=0, end=9, scores={"fluency": None}, issues={"fluency": {"[SPELLING]": ("teh\n for the",)}}
        ),
    ),
)


def test_every_line_says_which_document_it_is_of() -> None:
    assert note_lines("A", MEMORY) == [
        "[A 2 note] fluency [SPELLING] teh for the",
        "[A 2 note] scores: fluency not given",
    ]
    sections = scan(GOOD, WordCounter(), 5)
    assert document_lines("B", sections) == ["[B 1] The ship sailed at dawn.", "[B 2] The crew sang."]
    for index, notes, lines in (("both", True, True), ("notes", True, False), ("document", False, True)):
        text = searchable_text(index, ("A", "B"), (MEMORY, MEMORY), (sections, sections))  # type: ignore[arg-type]
        assert ("[B 2 note]" in text, "[A 1] The ship" in text) == (notes, lines)
    assert "Document A: 8 words in 2 sections." in stand_in("A", sections, "both")
    assert "sailed" not in stand_in("A", sections, "both")


def model(body: dict[str, Any]) -> str:
    """Notes `sialed`; as an agent it searches for it and prefers the document without a note."""
    messages = body["messages"]
    user = messages[1]["content"]
    if "<search>" not in messages[0]["content"]:
        text = user.partition("Text:\n<<<\n")[2]
        issue = "- [SPELLING] sialed is misspelled" if "sialed" in text else "None"
        return f"1) Fluency Issues:\n{issue}\nFINAL Fluency Score: {3 if 'sialed' in text else 5}"
    assert GOOD not in user
    assert "[A 3 note] is a note on that section" in user
    if len(messages) == 2:
        return "<search>misspelled ship"
    shown = messages[-1]["content"]
    noted = [name for name in "AB" if f"[{name} 1 note] fluency" in shown]
    comparison = {("A",): "A<B", ("B",): "A>B"}.get(tuple(noted))
    answer = {"comparison": comparison or "unclear", "violated_principles": [5]}
    return f"<answer>{json.dumps(answer)}"


def judge(options: str, *texts: str, prompt: bool = False) -> tuple[JudgeOutput, JudgeServer]:
    item = Item(item_id="i", cluster_id="c", instruction="Which is better?", candidates=texts, gold="A")
    task = CustomPrompt(rating_prompt("x", parse_metrics("fluency"), FORMS["v1"]), lambda _: InvalidVerdict(reason="x"))
    request = JudgeRequest(item, (0, 1), 0, task if prompt else pairwise_request(item, (0, 1)))
    with JudgeServer(lambda path, body: chat_completion(model(body))) as server:
        spec = f"memo-search:metrics=fluency,{options}@{server.url}#m"
        return run_all(make_judge(spec, JudgeBuild("", batch_size=2)), [request])[0], server


@pytest.mark.parametrize("texts", [(GOOD, BAD), (BAD, GOOD)])
@pytest.mark.parametrize("index", ["notes", "both"])
def test_the_agent_finds_its_notes(texts: tuple[str, str], index: str) -> None:
    output, server = judge(f"index={index}", *texts)
    assert output.verdict == PairwiseVerdict(winner="A" if texts[0] == GOOD else "B")
    assert output.trajectory.searches == 1
    assert output.usage is not None
    assert output.usage["calls"] == len(server.bodies) == 4, "one for each document and two turns"
    assert output.trajectory.judgment is not None
    assert [memory.document for memory in output.trajectory.judgment.memory] == [text_hash(text) for text in texts]
    assert output.request.item.texts == texts


def test_plain_search_makes_no_notes() -> None:
    output, server = judge("index=document", GOOD, BAD)
    assert isinstance(output.verdict, InvalidVerdict), "no note is found"
    assert len(server.bodies) == 2
    information = server.bodies[-1]["messages"][-1]["content"]
    assert "[B 1] The ship sialed at dawn." in information
    assert "note]" not in information


def request_of(number: int) -> JudgeRequest:
    item = Item(
        item_id=str(number),
        cluster_id="c",
        instruction="",
        candidates=(f"{GOOD} {number}", f"{BAD} {number}"),
        gold="A",
    )
    return JudgeRequest(item, (0, 1), 0, pairwise_request(item, (0, 1)))


def test_the_run_stops_if_the_server_is_down() -> None:
    outputs: list[JudgeOutput] = []

    async def run(url: str) -> None:
        found = make_judge(f"memo-search:timeout=1@{url}#m", JudgeBuild("", batch_size=8))
        async for output in found.judge([request_of(number) for number in range(20)]):
            outputs.append(output)

    with pytest.raises(EndpointError, match="cannot be reached"):
        asyncio.run(run("http://127.0.0.1:9/v1"))
    assert not outputs
    down = JudgeServer(lambda path, body: error_response(503, "down"))
    with down as server, pytest.raises(EndpointError, match=r"8 consecutive requests failed, .*status 503: down"):
        asyncio.run(run(server.url))
    assert len(outputs) == 8
    assert all(output.trajectory.infrastructure_failed for output in outputs)


def test_no_text_stays_after_a_run() -> None:
    server = JudgeServer(lambda path, body: chat_completion(model(body)))
    with server:
        found = make_judge(f"memo-search:metrics=fluency@{server.url}#m", JudgeBuild("", batch_size=4))
        outputs = run_all(found, [request_of(number) for number in range(10)])
    assert {output.request.item.item_id: output.verdict for output in outputs} == {
        str(number): PairwiseVerdict(winner="A") for number in range(10)
    }
    assert isinstance(found, MemoSearchJudge)
    assert len(found._texts) == 0


def test_prompts_of_a_benchmark_and_unknown_indexes_are_refused() -> None:
    with pytest.raises(BadJudge, match="compares two candidates"):
        judge("index=both", GOOD, BAD, prompt=True)
    with pytest.raises(BadJudge, match="index is both, notes, document"):
        judge("index=all", GOOD, BAD)
    with pytest.raises(BadJudge, match="leave out search=false"):
        judge("search=false", GOOD, BAD)
    with pytest.raises(BadJudge, match="leave out aggregate, by_tag"):
        judge("aggregate=min,by_tag=true", GOOD, BAD)
    with pytest.raises(BadJudge, match="is blank"):
        judge("index=notes", GOOD, " ")
