"""A folder with everything that the commands of the README and of the docs read: tiny corpora and benchmarks in their
original formats, data, run folders and evaluations."""

import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random

from agent_traces import write_agent_traces
from hellobench_factories import WEIGHTS, make_checkout
from hostile_files import cli
from label_factories import write_csv
from longjudgebench_factories import synthetic_checkout
from paths import REPO
from run_factories import toy_eval, toy_run
from source_factories import write_rows

from data_builders.sources.builtin import read as builtin_cases
from judge_r1.models.hub import resolve

LINKED = (
    "recipes", "clusters", "scripts", "tests", "judge_r1", "data_builders", "retrieval", "Makefile", "README.md",
    "pyproject.toml", "setup.py", "MANIFEST.in", "requirements", "examples",
)  # fmt: skip
"""Files of the repository that commands name."""
KINDS = ("aching", "burning", "dull", "sharp", "sudden", "steady")
PLACES = ("back", "chest", "knee", "neck", "shoulder", "wrist")
NAMES = ("Anna Miller", "Ben Carter", "Clara Stone", "David Brook")
PAIR = {
    "source": "mmlu-pro-law", "response_model": "gpt", "response_A": "It is four, since two and two are four.",
    "response_B": "Five.", "label": "A>B",
}  # fmt: skip
EPISODE = {
    "context": "none", "search": True, "prompt": "compact", "retriever": "bm25", "prompt_tokens": 400,
    "budget": {"max_searches": 1, "top_k": 1, "passage_words": 3, "response_tokens": 16, "observation_tokens": 32},
}  # fmt: skip


def make_docs_workspace(root: Path) -> Path:
    root.mkdir(parents=True)
    for name in LINKED:
        (root / name).symlink_to(REPO / name)
    (root / "docs" / "img").mkdir(parents=True)
    (root / "docs" / "experiments").symlink_to(REPO / "docs" / "experiments")
    corpora = root / "corpora"
    write_medrbench(corpora / "medical_medrbench")
    pairs = [PAIR | {"pair_id": f"p{n}", "original_id": n, "question": f"{n} and {n}?"} for n in range(2)]
    write_rows(corpora / "judgebench" / "gpt.jsonl", pairs)
    for folder in (corpora, root):
        make_checkout(folder / "HelloBench")
    synthetic_checkout(root / "LongJudgeBench")
    write_books(root / "books")
    documents = builtin_cases(None, 40, 0, Counter())
    write_rows(root / "documents.jsonl", [{"id": case.case_id, "context": case.context} for case in documents])
    (root / "prices.yaml").write_text("MODEL: {input: 3.0, output: 15.0}\n")
    (root / "bin").mkdir()
    (root / "bin" / "sbatch").write_text("#!/bin/sh\necho 1\n")
    (root / "bin" / "sbatch").chmod(0o755)
    write_people(root)
    write_labels(root)
    write_agent_traces(root / "agents", 2)
    for corpus in ("demo", "mini"):
        cli("build", "mini", "limit=8", "variants=1", "--out", root / "runs" / corpus / "all")
        cli("split", root / "runs" / corpus / "all", "--out", root / "runs" / corpus / "data")
    for name in ("demo/warmup", "demo/grpo", "mini/warmup"):
        run = toy_run(root / "runs" / name, 8, name=Path(name).name, episode=EPISODE)
        shutil.copytree(resolve("bundled:tiny"), run / "model")
    for name in ("judgebench", "llmbar", "lrbench"):
        toy_eval(root / "runs" / "eval" / name, {"base": ("agentic@base", 0.5), "ours": ("agentic@ours", 0.75)}, name)
    return root


def write_labels(root: Path) -> None:
    """Labels that the judge of `docs_endpoint` reads from the items, a template, and a pool with verdicts."""
    words = ["pass", "fail"] * 60
    rows = [
        {"id": f"i{n}", "input": f"q{n}", "output": f"a{n} [{word}]", "label": word} for n, word in enumerate(words)
    ]
    write_csv(root / "my.csv", rows)
    (root / "helpful.txt").write_text("$input\n$output\nIs it helpful? Answer pass or fail.")
    write_rows(root / "pool.jsonl", [{"id": f"p{n}", "verdict": word} for n, word in enumerate(words)])


def write_people(root: Path) -> None:
    """What people and judges said, at random: annotations.jsonl, answers.csv, votes.csv and answers.jsonl."""
    random, rated = Random(0), []
    for category, weights in WEIGHTS.items():
        for number in range(20):
            scores = [random.randint(0, 4) for _ in weights]
            overall = sum(score * weight for score, weight in zip(scores, weights, strict=True)) / 40
            rated.append({"category": category, "id": str(number), "evaluation_results": [*scores, overall]})
    write_rows(root / "annotations.jsonl", rated)
    answers = [f"{who},{n},{random.choice(('yes', 'no'))}" for who in ("ana", "ben") for n in range(8)]
    (root / "answers.csv").write_text("\n".join(["annotator,id,answer", *answers]) + "\n")
    judges = {"qwen3-8b": 0.5, "large": 0.8, "small": 0.3}
    votes = [f"{judge},i{n},{random.random() < skill:d}" for judge, skill in judges.items() for n in range(40)]
    (root / "votes.csv").write_text("\n".join(["judge,item,score", *votes]) + "\n")
    sure = [random.uniform(0.5, 1) for _ in range(80)]
    rows = [{"confidence": p, "correct": random.random() < p, "cluster": f"case {n}"} for n, p in enumerate(sure)]
    write_rows(root / "answers.jsonl", rows)


def write_medrbench(folder: Path) -> None:
    """Case reports with short reasoning in the format of MedRBench."""
    random, records = Random(0), {}
    for number in range(12):
        age, days, count, dose = (random.randint(*bounds) for bounds in ((30, 80), (2, 9), (120, 390), (2, 9)))
        kind, place = KINDS[number % len(KINDS)], PLACES[(number + number // 6) % len(PLACES)]
        report = (
            f"1. Introduction\n\nPain in the {place} is common.\n\n2. Case Report\n\nA patient of {age} years had "
            f"{kind} pain in the {place} for {days} days. The platelet count was {count} per microliter, and the "
            f"temperature was 37.{dose} degrees. An image of the {place} showed no fracture. The patient took "
            f"{dose}00 mg of ibuprofen daily and had no other illness. {dose} relatives had the same pain in "
            f"{1990 + number}.\n\n3. Discussion\n\nIt was a strain.\n"
        )
        reasoning = (
            f"1. The {kind} pain in the {place} for {days} days points to a strain, because there was no fracture.\n"
            f"2. The platelet count of {count} per microliter is normal, therefore a disease of the blood is "
            f"unlikely.\n3. The patient of {age} years took {dose}00 mg of ibuprofen daily, which is safe.\n"
            f"4. The patient should rest the {place} and come back if the pain does not end, and needs no operation."
        )
        case = {"case_summary": f"- Age: {age}\n- Sign: {kind} pain in the {place}", "diagnosis_results": "Strain."}
        records[f"PMC{number}"] = {"raw_case": report, "generate_case": case | {"differential_diagnosis": reasoning}}
    data = folder / "data" / "MedRBench"
    data.mkdir(parents=True)
    (data / "demo_diagnosis_100.json").write_text(json.dumps(records))
    (data / "demo_treatment_100.json").write_text("{}")


def write_books(folder: Path) -> None:
    """Two stories of about 2,500 words."""
    folder.mkdir()
    for number in range(2):
        random, paragraphs = Random(number), []
        for day in range(45):
            one, other = random.sample(NAMES, 2)
            paragraphs.append(
                f"{one} walked to the {random.choice(PLACES)} of the hill with {other} in the morning of day {day}. "
                f"She said that the {random.choice(KINDS)} wind had come, and he was sure that they would find the "
                f"house. They had seen it once, when the river was low and {other} was young."
            )
        (folder / f"story{number}.txt").write_text("\n\n".join(paragraphs) + "\n")
