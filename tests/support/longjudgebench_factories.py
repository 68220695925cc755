"""A tiny synthetic LongJudgeBench in the release's schema: prompts, ground truth and texts of each data set."""

import io
import json
import zipfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.records import Trajectory, Turn
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest

PROMPTS = {
    "deepresearch_bench": {
        "vanilla": "Task {instruction}\nText {response_0}\nAnswer {output_format}",
        "vanilla_rubric": "Task {instruction}\nText {response_0}\nBy {criteria_list}\nAnswer {output_format}",
        "vanilla_reference": "Task {instruction}\nLike {reference}\nText {response_0}\nAnswer {output_format}",
    },
    "realdr": {
        "vanilla": "Report {response_0}\n{output_format}",
        "vanilla_rubric": "Logic, expression, bias: {response_0}\n{output_format}",
        "vanilla_reference": "Like {reference}: {response_0}\n{output_format\n\nJSON only.",
    },
    "surge": {
        f"{dimension}_{mode}": "{response_0} / {response_1} / {response_2} / {response_3} -> {output_format}"
        for dimension in ("structure", "content")
        for mode in ("vanilla", "vanilla_reference")
    },
    "wp_bench": {
        "vanilla": "{instruction}: {response_0} or {response_1}? {output_format}",
        "vanilla_rubric": "{genre}, {genre_criteria}. {instruction}: {response_0} or {response_1}? {output_format}",
    },
    "verify_bench_hard": {
        "vanilla": "{instruction} {response_0} {output_format}",
        "vanilla_reference": "{instruction} {reference} {response_0} {output_format}",
    },
    "ma": {
        "insights_vanilla": "{response_0} or {response_1}? {output_format}",
        "insights_vanilla_reference": "{reference}: {response_0} or {response_1}? {output_format}",
    },
}
WEIGHTS = {"comprehensiveness": 0.4, "insight": 0.3, "instruction_following": 0.2, "readability": 0.1}
CRITERIA = "\n\n".join(
    f"Dimension: {name} (dimension_weight: 0.25)\n  - [Weight: 0.75] breadth: how broad\n"
    "  - [Weight: 0.25] depth: how deep"
    for name in ("Comprehensiveness", "Insight", "Instruction Following", "Readability")
)
AGENTS = ("openai-deepresearch", "gemini-2.5-pro-deepresearch", "perplexity-Research", "grok-deeper-search")


def synthetic_checkout(root: Path) -> Path:
    """Writes every data set with the coverage of a real checkout: DR-Bench has two of four agents."""
    for dataset, modes in PROMPTS.items():
        for mode, text in modes.items():
            _write(root / "config/prompts" / dataset / f"{mode}.yaml", json.dumps(
                {"task_description": "You judge.", "user_prompt_format": text, "output_format": '{"score": 0-10}'}
            ))  # fmt: skip
    rubric = root / "config/prompts/wp_bench/rubric"
    _write(rubric / "tag_to_genre.json", json.dumps({"公开信": "functional"}))
    _write(rubric / "genre_functional.yaml", "genre_criteria: |\n  Does it work?\n")
    _deep_research(root)
    _realdr(root)
    _surge(root)
    _pairs(root)
    _verify(root)
    return root


def _deep_research(root: Path) -> None:
    def annotation(shift: int) -> dict[str, Any]:
        scores = {agent: 80 - 10 * position + shift for position, agent in enumerate(AGENTS)}
        names = ("Comprehensiveness", "depth", "instruction following", "readability")
        return {
            "annotation_id": str(shift),
            "dimension_scores": {agent: dict.fromkeys(names, score) for agent, score in scores.items()},
            "overall_scores": scores,
        }

    gold = [
        {
            "id": number,
            "instruction": f"Research question {number}",
            "dimension_weights": WEIGHTS,
            "raw_annotations": [annotation(shift) for shift in (0, 1, 2)],
            "aggregated": {
                agent: {"weighted_total": 81.0 - 10 * position, "overall": 81.0 - 10 * position}
                for position, agent in enumerate(AGENTS)
            },
        }
        for number in (1, 2)
    ]
    _lines(root / "ground_truth/deepresearch_bench_gt.jsonl", gold)
    raw = root / "data/DeepResearch-Bench-Dataset/generated_reports"
    for agent in AGENTS[2:]:
        _lines(
            raw / f"{agent}.jsonl", [{"id": n, "prompt": "", "article": f"{agent} on {n}. More."} for n in (51, 1, 2)]
        )
    standard = root / "data_standardized"
    _lines(standard / "deepresearch_bench_criteria.jsonl", [{"id": n, "criteria_text": CRITERIA} for n in (1, 2)])
    _lines(standard / "deepresearch_bench_reference.jsonl", [{"id": "2", "reference": "The article on 2."}])


def _realdr(root: Path) -> None:
    names = ("逻辑结构", "表达形式", "偏见检查")
    gold = [
        {
            "id": f"Doc_{number:03}",
            "task_id": 1 + (number > 3),
            "prompt_pos": 1,
            "dimensions": dict(zip(names, (score, score, score + 0.1), strict=True)),
            "weights": dict(zip(names, (0.5, 0.3, 0.2), strict=True)),
            "weighted_total": round(score, 1),
            "annotators": 2,
        }
        for number, score in enumerate((9.0, 7.0, 5.0, 6.0, 4.0, 2.0), 1)
    ]
    _lines(root / "ground_truth/realdr_gt.jsonl", gold)
    for number in range(1, 7):
        task = 1 + (number > 3)
        path = root / "data/our_data" / f"task{task}" / f"Doc_{number:03}.docx"
        make_docx(path, f"Report {number}.", table=[["a", "b"], ["1", "2"]])
    for task, asked in ((1, "Research question 2"), (2, "Another question")):
        _write(root / f"data/our_data/task_prompt/task{task}.jsonl", json.dumps({"query": asked}, indent=2))


def _surge(root: Path) -> None:
    ranks = ({"GT": 1, "Autosurvey": 2, "ID": 3, "Naive": 4}, {"GT": 1, "Autosurvey": 3, "ID": 2, "Naive": 4})
    _lines(
        root / "ground_truth/surge_gt.jsonl",
        [
            {"id": n, "instruction": f"Topic {n}", "structure_ranking": ranks[n], "content_ranking": ranks[0]}
            for n in (0, 1)
        ],
    )
    for number in (0, 1):
        for system, ending in (("GT", ".tex"), ("Autosurvey", ".md"), ("ID", ""), ("Naive", "")):
            folder = root / "data/SurGE/baselines" / system / "output" / str(number)
            _write(folder / f"A survey{ending}", f"{system} surveys topic {number}.")
            if system == "Autosurvey":
                _write(folder / "A survey.json", json.dumps({"survey": "the raw file"}))


def _pairs(root: Path) -> None:
    wp, texts = [], []
    for number in range(4):
        models = (f"good{number}", f"bad{number}")
        wp.append(
            {
                "id": f"p{number // 2}",
                "instruction": "Write.",
                "preference": {"chosen_model": models[0], "rejected_model": models[1]},
                "scores": {"chosen": 3, "rejected": 1},
            }
        )
        responses = [{"model": model, "content": f"{model} writes at {'some ' * number}length."} for model in models]
        texts.append(
            {"id": f"p{number // 2}", "instruction": "Write.", "responses": responses, "meta": {"tag": "公开信"}}
        )
    _lines(root / "ground_truth/wp_bench_gt.jsonl", wp)
    _lines(root / "data_standardized/wp_bench.jsonl", texts)
    systems = ("gpt5_bm25", "auto_bm25")
    header = "# A Report\n\n**Paper ID:** 7 | **Model:** gpt-5\n**Generated:** today\n\n---\n\n"
    ma = []
    for number, (gold, rating) in enumerate((("A", 1.0), ("B", 2.5), ("tie", 2.0))):
        ma.append(
            {
                "id": f"paper_{number}_{systems[0]}_vs_{systems[1]}_insights",
                "paper_id": str(number),
                "paper_title": "A title",
                "preferred": gold,
                "mean_rating": rating,
                "system_a": systems[0],
                "system_b": systems[1],
            }
        )
    _lines(root / "ground_truth/ma_gt.jsonl", ma)
    insights = [{"ID": number, "Title": "A title", "Key_Insights": f"- Insight {number}"} for number in range(3)]
    _write(root / "data/MA/human_annotation_subset/gt/papers_annotated_30.json", json.dumps(insights))
    _lines(
        root / "data_standardized/ma.jsonl",
        [
            {
                "id": line["id"],
                "instruction": "Review the paper.",
                "responses": [{"model": system, "content": f"{header}{system} found it."} for system in systems],
            }
            for line in ma
        ],
    )
    _lines(
        root / "data_standardized/ma_reference.jsonl",
        [{"id": f"paper_{number}", "reference": f"Insight {number}."} for number in range(3)],
    )


def _verify(root: Path) -> None:
    gold = [
        ("q1_a", True, r"So \boxed{4}", "4"),
        ("q2_b", False, r"So \boxed{5}", "6"),
        ("q3_c", False, "No idea", "7"),
    ]
    _lines(root / "ground_truth/verify_bench_hard_gt.jsonl", [{"id": i, "gold_correct": g} for i, g, _, _ in gold])
    _lines(
        root / "data_standardized/verify_bench_hard.jsonl",
        [
            {"id": i, "instruction": "2+2?", "responses": [{"model": "m", "content": f"</think> {text}"}]}
            for i, _, text, _ in gold
        ],
    )
    _lines(
        root / "data_standardized/verify_bench_hard_reference.jsonl",
        [{"id": i, "reference": answer} for i, _, _, answer in gold],
    )


def make_docx(path: Path, *paragraphs: str, table: list[list[str]] | None = None) -> Path:
    """Writes a .docx with these paragraphs and a table after the first one."""
    blocks = [f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs]
    if table:
        rows = "".join(
            "<w:tr>" + "".join(f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in row) + "</w:tr>"
            for row in table
        )
        blocks.insert(1, f"<w:tbl>{rows}</w:tbl>")
    return raw_docx(path, "".join(blocks))


def raw_docx(path: Path, body: str) -> Path:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    return path


def _lines(path: Path, records: list[dict[str, Any]]) -> None:
    _write(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class TextJudge:
    """A judge that answers by a function. Its episodes end as `ended`, but the first `answered` ones."""

    def __init__(self, reply: Callable[[JudgeRequest], str], ended: str = "answer", answered: int = 0) -> None:
        self.name, self._says, self._ended, self._answered = "text", reply, ended, answered

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for number, request in enumerate(requests):
            ended = "answer" if number < self._answered else self._ended
            trajectory = Trajectory.without_ids(ended, [Turn(text=self._says(request))])
            yield JudgeOutput(request, trajectory, request.read(trajectory))


def run_text_judge(
    benchmark: LoadedBenchmark,
    out: Path,
    reply: Callable[[JudgeRequest], str],
    ended: str = "answer",
    answered: int = 0,
) -> PanelResults:
    row = JudgePanel("row", (TextJudge(reply, ended, answered),))
    return evaluate(row, benchmark, out=out, resume=False, console=Console(file=io.StringIO()))
