"""An option that would have no effect is an error that names it."""

import json
from pathlib import Path

import pytest
from factories import mini_pairs
from longjudgebench_factories import synthetic_checkout
from typer.testing import CliRunner

from data_builders.build import build, write_pairs
from judge_r1.benchmarks.longjudgebench import predictions
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.memo.config import MemoConfig
from judge_r1.judges.memo.judge import MemoJudge
from judge_r1.judges.panel import parse_panel


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`pairs`, `talks`, and `confidences.jsonl`."""
    folder = tmp_path_factory.mktemp("data")
    write_pairs(mini_pairs(12), folder / "pairs")
    build("mini-conversations", folder / "talks", variants=1, limit=4)
    lines = [{"confidence": n / 40, "correct": n % 3 > 0, "cluster": f"c{n % 20}"} for n in range(40)]
    (folder / "confidences.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("eval --path @pairs --predictions x --batch-size 4", "--batch-size is for judges, and --predictions scores"),
        ("eval --path @pairs --predictions x --examples @pairs", "--examples is for judges, and --predictions scores"),
        ("eval --path @pairs --predictions x --workers 2", "--workers is for judges, and --predictions scores"),
        ("eval --path @pairs --judge longer --temperature 1", "--temperature is for judges with a model"),
        ("eval --path @pairs --judge panel(longer|random) --batch-size 4", "--batch-size is for judges with a model"),
        ("rate votes.csv --scale old --seed 3", "--seed is for a fit, and --scale keeps the fit of old"),
        ("rate votes.csv --scale old --repeats 3", "--repeats is for a fit, and --scale keeps the fit of old"),
        ("rate votes.csv --repo-compat --on-invalid incorrect", "--on-invalid has no effect on --repo-compat"),
        ("calibrate @confidences.jsonl --judge-name a", "--judge-name is for an evaluation, not for the file"),
        ("calibrate @confidences.jsonl --confidence-method orders", "--confidence-method is for an evaluation"),
        ("calibrate @confidences.jsonl --delta 0.2", "--delta goes with --alpha"),
        ("select @pairs --rating r --seed 1", "--seed goes with --pairs"),
        ("build mini concurrency=2", "concurrency is for flaws by a model"),
        ("build cofluence variants=2", "variants has no effect on 'cofluence'"),
        ("build cofluence kinds=single", "kinds has no effect on 'cofluence'"),
        ("build cofluence options.min_tokens=2", "options.min_tokens is for documents, and there is no path"),
        ("build mini-conversations kinds=single", "kinds has no effect on 'mini-conversations'"),
        ("export @pairs --format verl --answer table6", "--answer has no effect on --format verl"),
        ("export @pairs --format sft --preference reasoning", "--preference has no effect on --format sft"),
        ("export @talks --format trl --recipe r.yaml", "--recipe has no effect on --format trl"),
    ],
)
def test_an_option_without_effect_is_refused(line: str, message: str, data: Path, tmp_path: Path) -> None:
    words = [word.replace("@", f"{data}/") if word.startswith("@") else word for word in line.split()]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    assert message in shown
    assert shown.endswith("leave it out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train recipes/mini/warmup.yaml --gpu H100", "--gpu goes with --dry-run"),
        ("validate @talks --recipe recipes/mini/warmup.yaml", "--recipe is for pairs of reasonings"),
        ("audit @talks --language-model none", "--language-model is for pairs of reasonings"),
        (
            "audit @pairs --language-model none --language-model-pairs 4",
            "--language-model-pairs is for a language model",
        ),
        ("index @pairs --retriever bm25 --device cpu", "--device has no effect on bm25"),
        ("fit-weights a.jsonl --resamples 0 --seed 2 --out w.json", "--seed is for the intervals"),
        ("serve --judge longer --recipe recipes/mini/warmup.yaml", "--recipe is for a judge with a model"),
    ],
)
def test_so_do_commands_without_a_folder_to_write(line: str, message: str, data: Path) -> None:
    words = [word.replace("@", f"{data}/") if word.startswith("@") else word for word in line.split()]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ("verify_bench_hard,topic=true", "topic has no effect on verify_bench_hard"),
        ("ma,tables=true", "tables has no effect on ma"),
        ("surge,stripped=true", "stripped has no effect on surge"),
        ("ma,search=true,topic=true", "topic has no effect on search"),
    ],
)
def test_options_of_longjudgebench_belong_to_sets(subset: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=message):
        parse_subset(subset)
    assert parse_subset("all,topic=true,tables=true,stripped=true").tables
    with pytest.raises(JudgeError, match="--predictions runs none"):
        predictions(synthetic_checkout(tmp_path), tmp_path / "ma.jsonl", "ma,topic=true")


def test_options_of_judges() -> None:
    with pytest.raises(BadJudge, match="has two values of samples"):
        parse_panel("panel:samples=2,samples=3(longer)")
    with pytest.raises(ValueError, match="are for the final call"):
        MemoConfig(final=False, by_tag=True)
    with pytest.raises(BadJudge, match="timeout is for endpoints, and bundled:tiny is a local model"):
        MemoJudge(JudgeBuild("bundled:tiny"), MemoConfig(timeout=5))
