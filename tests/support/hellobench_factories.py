"""A small checkout of HelloBench in the original format, with texts of our own, and a scripted judge for it."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

QUESTIONS = {"travel": ["Is it on topic?", "Is it long?"], "rewrite": ["Is it right?", "Is it short?", "Is it new?"]}
WEIGHTS = {"travel": [75.0, 25.0], "rewrite": [20.0, 30.0, 50.0]}
"""Item scores of two systems by category; the first one is better by 12.5 and by 65 points."""
STEM_OF = {"travel": "open_ended_qa", "rewrite": "chat"}


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def instruction_row(category: str, number: int) -> dict[str, Any]:
    questions = QUESTIONS[category]
    return {
        "id": f"{STEM_OF[category]}_{number:03}",
        "category": category,
        "instruction": f"Write about {category} number {number}.",
        "checklists": questions,
        "formatted_checklists": json.dumps(
            [{"checklist_id": n, "checklist_content": question} for n, question in enumerate(questions)]
        ),
        "num_checklist": len(questions),
        "raw_text": "",
        "requirements": None,
    }


def make_checkout(root: Path, *, each: int = 2, weights: bool = True) -> Path:
    """`data/`, and the release's weights file."""
    for category, stem in STEM_OF.items():
        rows = [instruction_row(category, number) for number in range(each)]
        write_lines(root / "data" / "main_data" / f"{stem}.jsonl", rows)
    if weights:
        (root / "weighted_scores.txt").write_text(f"REGRESSION_DICT = {WEIGHTS!r}\n")
    return root


def write_responses(folder: Path, text: str, *, each: int = 2, scores: Mapping[str, Sequence[float]] = {}) -> Path:
    """The responses of one system: `text` and the number. With `scores` by category, they are judgements."""
    for category, stem in STEM_OF.items():
        rows = []
        for number in range(each):
            source = instruction_row(category, number)
            row = {key: source[key] for key in ("id", "instruction")} | {"response": f"{text} {number}."}
            if category in scores:
                row["checklist_wise_evaluation"] = judgement(scores[category])
            rows.append(row)
        write_lines(folder / f"{stem}_results.jsonl", rows)
    return folder


def judgement(scores: Sequence[float]) -> list[dict[str, Any]]:
    return [{"checklist_id": n, "reason": f"reason {n}", "evaluation_score": s} for n, s in enumerate(scores)]


def make_wordnet(nltk_data: Path, *words: str) -> None:
    """NLTK data with a WordNet of one noun, which all `words` stand for."""
    folder = nltk_data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"{part}.exc", f"index.{part}", f"data.{part}"):
            (folder / name).touch()
    (folder / "index.sense").touch()
    (folder / "lexnames").write_text("".join(f"{n:02}\tlex{n}\t1\n" for n in range(45)))
    (folder / "data.adj").write_text("  1 WordNet 3.0 Copyright\n")
    lemmas = "".join(f"{word} 0 " for word in words)
    (folder / "data.noun").write_text(f"00000000 06 n {len(words):02x} {lemmas}000 | a thing  \n")
    (folder / "index.noun").write_text("".join(f"{word} n 1 0 1 0 00000000  \n" for word in sorted(words)))


def scripted_answer(system: str, user: str, sample: int) -> str:
    """A judge that gives 1 to every question about a text with the word `good`, else 0.5 and 0 in turn.

    It answers each of the prompts: all questions at once, the queries of a question, one question, and the whole."""
    good = "good" in user
    if "search queries" in user:
        return "1. good, new, used, made, found, time\n2. number"
    if "These passages" in user:
        return json.dumps({"reason": "it says so", "passage": 1, "evaluation_score": 1 if good else 0.5})
    if "The checklist:" in user:
        count = len(re.findall('"checklist_content"', user))
        return json.dumps(judgement([1.0 if good else (0.5, 0.0)[n % 2] for n in range(count)]))
    return json.dumps({"reason": "as a whole", "evaluation_score": 8 if good else 3})
