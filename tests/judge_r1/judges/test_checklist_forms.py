"""The two forms of the checklist judge on texts with planted facts, whose answers are known: agreement, citations and
cost.

The scripted judge says yes to a question if the planted sentence is in what it reads. One reader reads whole prompts.
The other one reads only the first `WINDOW` words of a text in one call, as models that lose track of long texts do.
`pytest -m real_data -s` of this file prints the table of docs/experiments/checklist_forms.csv, on responses of GPT-4o.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer

from judge_r1.benchmarks.checklist.items import ChecklistEntry, checklist_benchmark
from judge_r1.core.checklist import Checklist
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import ChecklistVerdict
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel

WINDOW = 2000
FACTS = {
    "Does the text say who repaired the lighthouse?": "It was Marta Olsen who mended the lamp of the lighthouse.",
    "Does the text name the colour of the harbour gate?": "Sailors knew the gate at the harbour by its green paint.",
    "Is it told why the bakery closed early?": "The flour had run out, so the bakery shut its doors at noon.",
    "Does the text say how many bells the chapel has?": "Seven bells hung in the tower of the chapel.",
    "Is the price of the ferry ticket given?": "A ticket for the ferry cost four crowns that year.",
    "Does the text say what the gardener planted?": "Along the wall the gardener had put in rows of quince.",
    "Is it told where the violin was made?": "A maker from Cremona had built her violin.",
    "Does the text say when the library opened?": "The library first let readers in on a Tuesday in March.",
    "Is the name of the shepherd's dog given?": "The shepherd called his dog Bramble.",
    "Does the text say what powered the mill?": "A stream from the glacier drove the mill.",
}
"""A sentence for each question."""
PER_TEXT = 5
LENGTHS = (1000, 4000, 12_000)
"""Words of the texts from the release."""


def planted(paragraphs: Iterator[str], words: int, name: str) -> ChecklistEntry:
    """A text of at least `words` words, with about half of the facts that it is asked about at random places."""
    parts: list[str] = []
    while sum(len(part.split()) for part in parts) < words:
        parts.append(next(paragraphs))
    asked = sorted(FACTS, key=lambda question: content_hash("asked", name, question))[:PER_TEXT]
    there = [int(content_hash("there", name, question), 16) % 2 == 1 for question in asked]
    for question, shown in zip(asked, there, strict=True):
        if shown:
            place = int(content_hash("place", name, question), 16) % (len(parts) + 1)
            parts.insert(place, FACTS[question])
    return ChecklistEntry(
        item_id=f"s/{name}",
        cluster_id=name,
        group="texts",
        system="s",
        instruction="Write a long story.",
        response="\n\n".join(parts),
        checklist=Checklist.of(asked),
        gold_scores=tuple(map(float, there)),
    )


def scripted(window: int | None) -> Callable[[str, str, int], str]:
    """The scripted judge that reads `window` words of a text in one call, or all of it."""

    def answer(system: str, user: str, sample: int) -> str:
        if "search queries" in user:
            return _between(user, "has to be answered:\n", "\n\nWhich passages")
        if "were found for the question:" in user:
            passages = _between(user, "found for the question:\n", "\n\nThe question about").split("\n\n[")
            question = _between(user, "about the response:\n", "\n\nAnswer it")
            holding = [number for number, text in enumerate(passages, 1) if FACTS[question] in text]
            found = {"reason": "it is said" if holding else "it is not said", "passage": (holding or [1])[0]}
            return json.dumps({**found, "evaluation_score": float(bool(holding))})
        text = _between(user, "The response:\n", "\n\nThe response ends here.")
        read = " ".join(text.split()[:window])
        asked = json.loads(_between(user, "The checklist:\n", "\n\nAnswer every question"))
        rows = [(one["checklist_id"], FACTS[one["checklist_content"]] in read) for one in asked]
        return json.dumps(
            [
                {"checklist_id": n, "reason": "said" if yes else "not said", "evaluation_score": yes + 0.0}
                for n, yes in rows
            ]
        )

    return answer


def measured(entries: Sequence[ChecklistEntry], form: str, window: int | None, out: Path) -> dict[str, float]:
    """Agreement with the known answers, the share of right citations of facts, and calls and tokens for each text. A
    token of the scripted judge is a word."""
    with (
        FakeLLMServer(scripted(window)) as server,
        Evaluation(checklist_benchmark(entries, "equal"), out, resume=False, name="checklist") as evaluation,
    ):
        evaluation.run(lambda: make_panel(f"j=checklist:{form}@{server.url}/v1#m", JudgeBuild("")))
        (row,) = evaluation.finish([])["rows"]
        (results,) = (found.items for found in evaluation.results.values())
    by_id = {entry.item_id: entry for entry in entries}
    cited = []
    for result in results:
        entry, verdict = by_id[result.item_id], result.verdict
        assert isinstance(verdict, ChecklistVerdict)
        for number, question in enumerate(entry.checklist.questions):
            if (start := entry.response.find(FACTS[question])) >= 0:
                low, high = verdict.cited.get(str(number), (0, 0))
                cited.append(low <= start and start + len(FACTS[question]) <= high)
    assert row["extra"].get("cited") == (None if form == FORMS["one call"] else 1.0)  # it names one for each answer
    usage: dict[str, float] = row["usage"]
    per_text = {name: usage[name] / len(entries) for name in ("calls", "input_tokens", "output_tokens")}
    return {"exact": row["extra"]["exact"], "cited": sum(cited) / len(cited), **per_text}


FORMS = {"one call": "form=call", "search": "form=search,retriever=bm25"}


def table(paragraphs: Sequence[str], lengths: Sequence[int], each: int, out: Path) -> dict[tuple[int, str, Any], Any]:
    """The measures by length, form and reader."""
    found = {}
    for words in lengths:
        stream = iter(paragraphs)
        entries = [planted(stream, words, f"{words}-{number}") for number in range(each)]
        for form, options in FORMS.items():
            for window in (None, WINDOW):
                cell = measured(entries, options, window, out / f"{words}-{form}-{window}")
                found[words, form, window] = cell
                print(words, form, window or "all", {name: round(value, 2) for name, value in cell.items()})
    return found


def check(found: dict[tuple[int, str, Any], Any], words: int) -> None:
    call, search = found[words, "one call", None], found[words, "search", None]
    assert call["exact"] == 1.0  # by construction: the reader sees all
    assert (call["calls"], search["calls"]) == (1, 2 * PER_TEXT)
    assert call["cited"] == 0.0
    assert search["exact"] > 0.9
    assert search["cited"] > 0.8
    assert found[words, "search", WINDOW] == search  # passages are shorter than the window


def test_the_search_form_finds_what_a_reader_of_the_beginning_misses(tmp_path: Path) -> None:
    filler = [f"Paragraph {n} is about the weather of day {n}. Nothing happens in it. " * 4 for n in range(600)]
    found = table(filler, [6000], 3, tmp_path)
    check(found, 6000)
    assert found[6000, "one call", WINDOW]["exact"] < found[6000, "search", WINDOW]["exact"]
    assert found[6000, "search", None]["input_tokens"] < found[6000, "one call", None]["input_tokens"]


@pytest.mark.slow
@pytest.mark.real_data
def test_both_forms_on_responses_of_the_release(tmp_path: Path, real_data: Path) -> None:
    folder = real_data / "hellobench" / "results" / "judgements" / "main_exp" / "gpt4o_0806"
    lines = (folder / "heuristic_text_generation_results.jsonl").read_text(encoding="utf-8").splitlines()
    paragraphs = [part for line in lines for part in json.loads(line)["response"].split("\n\n") if part.strip()]
    found = table(paragraphs, LENGTHS, 8, tmp_path)
    for words in LENGTHS:
        check(found, words)


def _between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0]
