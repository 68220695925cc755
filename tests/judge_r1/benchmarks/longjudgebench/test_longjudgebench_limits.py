"""Token limits of LongJudgeBench, and prompts that a model cannot read."""

import io
from pathlib import Path

import pytest
from longjudgebench_factories import run_text_judge
from rich.console import Console

from judge_r1.benchmarks.longjudgebench import load
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.report.tables import grids
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.agentic import episode_config
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.direct import direct_config
from judge_r1.judges.panel import make_panel
from judge_r1.judges.request import TokenLimits

PAPER = TokenLimits(131_072, 24_576)


@pytest.mark.parametrize("subset", [None, "ma", "surge,paper=true", "deepresearch_bench,setting=rubric,paper=true"])
def test_the_benchmark_declares_the_limits_of_the_paper(root: Path, subset: str | None) -> None:
    assert load(root, subset).limits == PAPER
    config = direct_config(JudgeBuild("https://host/v1#model", limits=load(root, subset).limits))
    assert (config.prompt_tokens, config.effective_budget.episode_tokens) == (131_072, 24_576)


def test_a_judge_with_search_keeps_its_own_limits(root: Path) -> None:
    assert load(root, "ma,search=true").limits == TokenLimits()


def test_options_override_the_benchmark_and_the_benchmark_overrides_recipes(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("episode: {prompt_tokens: 900, budget: {response_tokens: 70, top_k: 5}}")
    build = JudgeBuild(str(tmp_path / "model"), limits=PAPER)
    config = episode_config(build)
    assert (config.prompt_tokens, config.budget.response_tokens, config.budget.top_k) == (131_072, 24_576, 5)
    config = direct_config(JudgeBuild(str(tmp_path / "model"), ["prompt_tokens=800"], limits=PAPER))
    assert (config.prompt_tokens, config.budget.response_tokens) == (800, 24_576)
    assert episode_config(JudgeBuild(str(tmp_path / "model"))).prompt_tokens == 900


def test_prompts_that_do_not_fit_are_announced_and_reported_apart(root: Path, tmp_path: Path) -> None:
    """With a limit between the two lengths of prompts, one kind fits; the untrained model answers it invalidly."""
    benchmark = load(root, "all,setting=reference")
    spec = "direct:prompt_tokens=80,budget.response_tokens=8@bundled:tiny"
    build = JudgeBuild("", limits=benchmark.limits)
    console = Console(file=io.StringIO())
    items = evaluate(make_panel(spec, build), benchmark, out=tmp_path / "a", resume=False, console=console).items
    told = console.file.getvalue()  # type: ignore[attr-defined]
    reasons = [vote.verdict.reason for item in items for vote in item.votes if isinstance(vote.verdict, InvalidVerdict)]
    unfit = reasons.count("prompt_too_long")
    assert 0 < unfit < len(reasons) == len(benchmark.requests())
    assert f"{unfit} of {len(reasons)} prompts are too long" in told
    assert "its limit is 80" in told
    evaluation = Evaluation(benchmark, tmp_path / "a", resume=True, name="longjudgebench")
    evaluation.run(lambda: make_panel(spec, build))
    summary = evaluation.finish([])
    row = summary["rows"][0]
    assert row["settings"]["prompt_tokens"] == 80
    assert 0 < row["does_not_fit"] < 1
    assert row["extra"]["unfit"] == pytest.approx(unfit / len(reasons))
    assert row["extra"]["invalid"] == pytest.approx(1 - unfit / len(reasons))
    assert row["accuracy_fitting"] == 0
    assert {"does not fit", "fitting"} <= set(grids(summary)[0].columns)


def test_a_model_that_reads_no_prompt_is_refused_before_any_work(root: Path, tmp_path: Path) -> None:
    benchmark = load(root, "ma")
    panel = make_panel("direct@bundled:tiny", JudgeBuild("", limits=benchmark.limits))
    with pytest.raises(BadJudge, match=r"none of 6 prompts fits.*an episode of up to 24576 are more than the 2048"):
        evaluate(panel, benchmark, out=tmp_path, resume=False)


def test_an_endpoint_that_refuses_a_prompt_for_its_length_counts_as_not_fitting(root: Path, tmp_path: Path) -> None:
    benchmark = load(root, "verify_bench_hard")
    results = run_text_judge(benchmark, tmp_path, lambda request: "", ended="context_overflow", answered=1).items
    found = benchmark.metrics(results)
    assert (found["unfit"], found["invalid"]) == pytest.approx((2 / 3, 1 / 3))


def test_a_refusal_by_a_safety_policy_is_counted_apart(root: Path, tmp_path: Path) -> None:
    benchmark = load(root, "verify_bench_hard")
    results = run_text_judge(benchmark, tmp_path, lambda request: "", ended="content_filter", answered=1).items
    found = benchmark.metrics(results)
    assert (found["rejected"], found["unfit"], found["invalid"]) == pytest.approx((2 / 3, 0, 1 / 3))
