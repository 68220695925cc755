import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from longjudgebench_factories import run_text_judge
from rich.console import Console

import judge_r1.models
from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench import load, read_queries
from judge_r1.benchmarks.longjudgebench.baselines import baseline_results
from judge_r1.benchmarks.longjudgebench.requests import describe_hidden_text
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.core.errors import JudgeError
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.runner import evaluate
from judge_r1.evaluation.summary import summarize
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from retrieval.retriever import Retriever


def user(request: JudgeRequest) -> str:
    assert isinstance(request.task, CustomPrompt)
    return request.task.prompt.chat()[-1]["content"]


@pytest.mark.parametrize(
    ("subset", "items", "requests"),
    [
        ("deepresearch_bench", 2, 4),
        ("deepresearch_bench,setting=reference", 1, 2),
        ("realdr", 2, 6),
        ("surge", 4, 4),
        ("surge,dimensions=structure,setting=reference", 2, 2),
        ("wp_bench,setting=rubric", 4, 8),
        ("verify_bench_hard,setting=reference", 3, 3),
        ("ma,setting=reference", 3, 6),
        (None, 18, 31),
    ],
)
def test_items_and_requests_of_each_set(root: Path, subset: str | None, items: int, requests: int) -> None:
    benchmark = load(root, subset)
    assert len(benchmark.items) == items
    assert len(benchmark.requests()) == requests
    assert not any(re.search(r"\{(instr|resp|ref|out|crit|genre)", user(request)) for request in benchmark.requests())


def test_accuracy_of_a_judge_that_knows_the_gold(root: Path, tmp_path: Path) -> None:
    ranks = {"GT": 5, "Autosurvey": 4, "ID": 3, "Naive": 1}

    def reply(request: JudgeRequest) -> str:
        text = user(request)
        if request.item.group in ("Structure", "Content"):
            shown = [part.split()[0] for part in text.split(" -> ")[0].split(" / ")]
            key = "structural_score" if request.item.group == "Structure" else "content_score"
            return json.dumps({letter: {key: ranks[name]} for letter, name in zip("ABCD", shown, strict=True)})
        if request.item.group == "WP":
            return json.dumps({"preferred_response": "A" if text.index("good") < text.index("bad") else "B"})
        if request.item.group == "DR":
            return json.dumps({"overall_score": 7 if "perplexity" in text else 5})
        if request.item.group == "RealDR":
            number = int(text.split("Report ")[2][0])
            return f'I think {{"overall_score": {10 - number}}} fits.'
        if request.item.group == "Verify":
            return json.dumps({"verdict": "Yes" if "boxed{4}" in text else "No"})
        return json.dumps({"preferred_insights_consistency": "tie"})

    benchmark = load(root, None)
    results = run_text_judge(benchmark, tmp_path / "out", reply).items
    [found] = summarize({"row": results}, [], {}, {"row": {}}, benchmark.metrics, benchmark.counts)["rows"]
    accuracy = {group: part["accuracy"] for group, part in found["by_domain"].items()}
    assert accuracy == {
        "DR": 1, "RealDR": 1, "Structure": pytest.approx(11 / 12), "Content": 1, "WP": 1, "Verify": 1,
        "MA": 0,
    }  # fmt: skip
    assert found["by_domain"]["MA"]["n"] == 2  # the third pair is a tie in the gold, which Eq. 6 leaves out
    assert found["extra"]["columns"] == 7
    assert found["extra"]["avg"] == pytest.approx(sum(accuracy.values()) / 7)


def test_key_insights_replace_the_conclusion_as_reference(root: Path, tmp_path: Path) -> None:
    shown = [user(request) for request in load(root, "ma,setting=reference,key_insights=true").requests()]
    assert len(shown) == 6
    assert {text.split(":")[0] for text in shown} == {"- Insight 0", "- Insight 1", "- Insight 2"}
    copy = shutil.copytree(root, tmp_path / "checkout")
    file = copy / "data/MA/human_annotation_subset/gt/papers_annotated_30.json"
    file.write_text(json.dumps([{"ID": 1}]))
    with pytest.raises(JudgeError, match=r"papers_annotated_30\.json: field 0\.Key_Insights"):
        load(copy, "ma,setting=reference,key_insights=true")
    file.unlink()
    with pytest.raises(BadBenchmark, match="key_insights needs a checkout of LongJudgeBench that has this file"):
        load(copy, "ma,setting=reference,key_insights=true")


def test_prompts_as_released_and_corrected(root: Path) -> None:
    def first(subset: str) -> str:
        return user(load(root, subset).requests()[0])

    assert "Criteria" not in first("deepresearch_bench,setting=rubric,paper=true")
    assert "By {criteria_list}" in first("deepresearch_bench,setting=rubric,paper=true")
    assert "[Weight: 0.75] breadth" in first("deepresearch_bench,setting=rubric")
    assert first("realdr,setting=reference,paper=true") == "Like {reference}: Report 1.\n{output_format\n\nJSON only."
    assert first("realdr,setting=reference") == 'Like The article on 2.: Report 1.\n{"score": 0-10}\n\nJSON only.'
    assert "the raw file" in first("surge,dimensions=structure,paper=true")
    assert "Autosurvey surveys topic 0." in first("surge,dimensions=structure")
    assert "</think>" in first("verify_bench_hard,paper=true")
    assert "</think>" not in first("verify_bench_hard")


@pytest.mark.parametrize("subset", ["all,setting=reference", "all,setting=reference,paper=true"])
def test_reference_setting_omits_wp(root: Path, subset: str) -> None:
    benchmark = load(root, subset)
    assert {item.group for item in benchmark.items} == {"DR", "RealDR", "Structure", "Content", "Verify", "MA"}
    assert len(benchmark.requests()) >= 17


def test_options_change_the_prompt(root: Path) -> None:
    assert "a | b" in user(load(root, "realdr,tables=true").requests()[0])
    assert user(load(root, "ma,topic=true").requests()[0]).startswith("Task\nReview the paper.\n\n# A Report")
    assert user(load(root, "ma,stripped=true").requests()[0]).startswith("gpt5_bm25 found it.")


def test_wp_order_is_by_hash_except_for_paper(root: Path) -> None:
    assert {item.gold for item in load(root, "wp_bench,paper=true").items} == {"A"}
    assert {item.gold for item in load(root, "wp_bench").items} == {"A", "B"}


@pytest.mark.parametrize(
    ("subset", "requests"),
    [("ma,search=true,setting=reference", 6), ("deepresearch_bench,search=true", 4),
     ("surge,dimensions=structure,search=true", 24), ("surge,dimensions=structure,search=true,setting=reference", 12),
     ("realdr,search=true", 12), ("verify_bench_hard,search=true", 6)],
)  # fmt: skip
def test_search_has_one_case_per_order(root: Path, subset: str, requests: int) -> None:
    benchmark = load(root, subset)
    questions = [request.task for request in benchmark.requests()]
    assert len(questions) == len(benchmark.texts) == requests
    retriever = Retriever(benchmark.texts, method="bm25", passage_words=8)
    for request, question in zip(benchmark.requests(), questions, strict=True):
        assert isinstance(question, PairwiseTask)
        assert question.case_id == request.case_id
        assert benchmark.texts[question.case_id or ""] == question.context
        hits = retriever.search([(question.case_id or "", "A B report survey text found boxed topic")], 9)[0]
        assert hits
        assert all(hit.passage.text.startswith(("[A] ", "[B] ", "[REFERENCE] ")) for hit in hits)


def test_search_prompts_do_not_contain_the_texts(root: Path) -> None:
    benchmark = load(root, "ma,search=true,setting=reference")
    for request in benchmark.requests():
        question = request.task
        assert isinstance(question, PairwiseTask)
        assert "found it" not in question.reasoning_a + question.reasoning_b + question.decision
        first = ("gpt5_bm25", "auto_bm25")[request.order[0]]
        assert f"[A] {first} found it." in question.context
        assert "[REFERENCE] Insight" in question.context


@pytest.mark.parametrize(
    "subset", ["ma,search=true", "deepresearch_bench,search=true", "verify_bench_hard,search=true", "surge,search=true"]
)
def test_pairwise_judges_work_with_search(root: Path, tmp_path: Path, subset: str) -> None:
    benchmark = load(root, subset)
    row = make_panel("always-a", JudgeBuild("", texts=benchmark.texts))
    results = evaluate(row, benchmark, out=tmp_path, resume=False, console=Console(file=io.StringIO())).items
    accuracy = sum(result.score for result in results) / len(results)
    assert accuracy == pytest.approx({"ma": 1 / 3, "verify_bench_hard": 0.5}.get(subset.partition(",")[0], 0))
    assert benchmark.metrics(results)["invalid"] == 0


def test_agentic_judge_works_with_search(root: Path, tmp_path: Path) -> None:
    """The untrained model answers invalidly, but its prompts fit."""
    benchmark = load(root, "ma,search=true")
    tiny = Path(judge_r1.models.__path__[0]) / "tiny"
    options = "context=none,prompt=compact,retriever=bm25,budget.response_tokens=16,budget.observation_tokens=200"
    row = make_panel(f"agentic:{options}@{tiny}", JudgeBuild("", texts=benchmark.texts))
    results = evaluate(row, benchmark, out=tmp_path, resume=False, console=Console(file=io.StringIO()))
    votes = [stored for votes in results.votes.values() for stored in votes]
    assert len(votes) == 6
    assert all(stored.trajectory.prompt_ids and stored.trajectory.ended != "prompt_too_long" for stored in votes)
    assert benchmark.metrics(results.items)["unfit"] == 0


def test_describe_hidden_text() -> None:
    text = "# One\ntext\n\\section{Two}\n" + "## More\n" * 60
    description = describe_hidden_text("A", text)
    assert f"{len(text)} characters" in description
    assert "Its 40 of 62 headings: One; Two; More" in description
    assert "headings" not in describe_hidden_text("B", "no heading # here")


def test_missing_texts_are_reported_with_the_first_request(root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(root, tmp_path / "checkout")
    (copy / "data_standardized" / "wp_bench.jsonl").unlink()
    with pytest.raises(BadBenchmark, match=r"lacks the texts or references of 'wp_bench' \(WP: 0 of 4 queries"):
        load(copy, "wp_bench").requests()


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("ma_gt.jsonl", '{"id": "x"}', "line 4: field paper_id"),
        ("deepresearch_bench_gt.jsonl", "{", "line 3.* not valid JSON"),
        ("surge_gt.jsonl", '{"id": 9, "instruction": "", "structure_ranking": {"GT": 1}, "content_ranking": {}}',
         "id 9: structure_ranking must rank"),
        ("verify_bench_hard_gt.jsonl", '{"id": "q1_a", "gold_correct": true}', "line 4: id q1_a is already on line 1"),
        ("wp_bench_gt.jsonl", '{"id": "p0", "instruction": "", "preference": {"chosen_model": "good0", '
         '"rejected_model": "bad0"}, "scores": {}}', "1 queries occur twice"),
    ],
)  # fmt: skip
def test_malformed_lines_are_reported(root: Path, tmp_path: Path, file: str, line: str, message: str) -> None:
    copy = shutil.copytree(root, tmp_path / "checkout")
    path = copy / "ground_truth" / file
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(JudgeError, match=message):
        load(copy, file.removesuffix("_gt.jsonl"))


@pytest.mark.parametrize(
    ("file", "subset", "message"),
    [
        ("data/SurGE/baselines/ID/output/0/A survey", "surge", "A survey is not a text in UTF-8"),
        ("ground_truth/realdr_gt.jsonl", "realdr", "realdr_gt.jsonl, line 1.* not UTF-8"),
    ],
)
def test_files_that_are_not_utf8_are_reported(root: Path, tmp_path: Path, file: str, subset: str, message: str) -> None:
    copy = shutil.copytree(root, tmp_path / "checkout")
    (copy / file).write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(JudgeError, match=message):
        load(copy, subset)


def test_tag_without_genre_is_reported(root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(root, tmp_path / "checkout")
    (copy / "config/prompts/wp_bench/rubric/tag_to_genre.json").write_text("{}")
    with pytest.raises(BadBenchmark, match="has no genre for tag '公开信' of wp_bench:p0:good0:bad0"):
        load(copy, "wp_bench,setting=rubric").requests()


def accuracies(root: Path, subset: str) -> dict[str, Any]:
    options = parse_subset(subset)
    rows = baseline_results(read_queries(root, options), options)
    return {name: sum(o.score for o in row) / len(row) for name, row in rows.items()}


def test_accuracy_of_baselines(root: Path) -> None:
    assert accuracies(root, "verify_bench_hard") == {
        "always No": pytest.approx(2 / 3),
        r"last \boxed as in the reference": 1,
        "reference in the last 300 characters": 1,
    }
    assert accuracies(root, "surge,dimensions=structure") == {
        "longest": pytest.approx(1 / 4),
        "as the files present them": pytest.approx(11 / 12),
    }
    assert accuracies(root, "deepresearch_bench") == {
        "fixed order of systems (fitted on gold)": 1,
        "one annotator, vs the others": 1,
    }
    ma = accuracies(root, "ma")
    fitted = ma["best system of each pair (fitted on gold)"]
    assert (ma["always first"], ma["always tie"], fitted) == pytest.approx((1 / 3,) * 3)
    assert accuracies(root, "wp_bench") == {"always first": 0.5, "longer": 1}


def test_baselines_exist_only_for_single_columns(root: Path) -> None:
    benchmark = load(root, "verify_bench_hard")
    assert set(benchmark.baselines(benchmark.items)) == set(accuracies(root, "verify_bench_hard"))
    assert len(benchmark.baselines(benchmark.items[:2])["always No"]) == 2
    every = load(root, None)
    assert every.baselines(every.items) == {}
    pair = load(root, "deepresearch_bench")
    assert pair.metrics(pair.baselines(pair.items)["one annotator, vs the others"])["acc_strict"] == 1
