"""The commands, each in a separate process."""

import json
import re
from pathlib import Path

import fake_teacher
import pytest
from command_server import run
from fake_llm_server import FakeLLMServer
from paths import RECIPES

from data_builders.generators.base import RULES_VERSION
from data_builders.perturb.rules.engine import USED_UP


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    assert run("build", "mini", "limit=12", "--out", out).returncode == 0
    return out


def test_a_build_by_rules_says_how_many_flaws_have_a_natural_place(tmp_path: Path) -> None:
    done = run("build", "builtin", "limit=3", "kinds=single", "--out", tmp_path)
    assert "a teacher makes" in " ".join(done.stdout.split())
    report = json.loads((tmp_path / "build.json").read_text())
    assert report["rules"] == RULES_VERSION
    assert {name: row["made"] for name, row in report["yield"].items() if row["made"]} == report["by_set"]
    for name, row in report["yield"].items():
        assert row["wanted"] == 15
        missing = [report["abstained"].get(f"{name}: {why}", 0) for why in ("no natural place", USED_UP)]
        assert sum(missing) == 15 - row["made"]


def test_a_build_by_a_teacher_shows_every_reason_by_set(tmp_path: Path) -> None:
    """P3 has no natural place and P6 gives nothing to use; each reason has a row with a count for its set."""

    def answer(system: str, user: str, sample: int) -> str:
        if "Target principle: 3." in user:
            return "NO PLACE"
        return "Sorry." if "Target principle: 6." in user else fake_teacher.honest(system, user, sample)

    with FakeLLMServer(answer) as server:
        options = ("kinds=single", "variants=1", f"teacher={server.chat}", "--out", tmp_path)
        shown = run("build", "builtin", "limit=2", *options).stdout
    rows = {cells[0]: cells[1:] for line in shown.split("\n") if len(cells := re.findall(r"[^│┃]+", line)) == 9}
    rows = {name.strip(): [cell.strip() for cell in cells] for name, cells in rows.items()}
    assert rows["no natural place"] == ["", "", "2", "", "", "", "", "2"]
    assert rows["not accepted in 3 rounds"][5] == "2"
    assert rows["the variant is missing"][5] == "6"
    assert re.search(r"labels checked by rules: P\d.*\. Give verify=SPEC: nobody checked the other \d+ flaws", shown)


def test_validate_accepts_built_pairs_and_names_problems(built: Path, tmp_path: Path) -> None:
    good = run("validate", built, "--recipe", RECIPES / "mini" / "warmup.yaml")
    assert good.returncode == 0, good.stdout + good.stderr
    assert "(100.0%)" in good.stdout
    tight = tmp_path / "tight.yaml"
    tight.write_text(f"extends: {RECIPES / 'mini' / 'warmup.yaml'}\nepisode:\n  budget:\n    max_searches: 1\n")
    bad = run("validate", built, "--recipe", tight)
    assert bad.returncode == 1
    assert "search_refused" in bad.stdout


def test_search_shows_the_passages_of_one_case(built: Path) -> None:
    case = json.loads((built / "cases.jsonl").open().readline())
    fact = case["context"].split(".")[0]
    options = ["--case-id", case["case_id"], "--retriever", "bm25", "--passage-words", "3", "-k", "1"]
    result = run("search", built / "cases.jsonl", fact, *options)
    assert result.returncode == 0
    assert fact in result.stdout


def test_dry_run_prints_the_resolved_recipe(tmp_path: Path) -> None:
    shown = run("train", RECIPES / "mini" / "grpo.yaml", "grpo.steps=3", "--dry-run", "--out", tmp_path / "none")
    assert shown.returncode == 0
    assert "steps: 3" in shown.stdout
    assert not (tmp_path / "none").exists()


def test_a_dry_run_of_a_stage_that_is_not_possible_ends_with_status_2(tmp_path: Path) -> None:
    recipe = RECIPES / "mini" / "warmup.yaml"
    (tmp_path / "recipe.yaml").write_text(run("train", recipe, "seed=7", "--dry-run").stdout)
    shown = run("train", recipe, "--dry-run", "--out", tmp_path)
    assert shown.returncode == 2
    assert f"not possible: {tmp_path} holds a run of another recipe" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "minni", "--out", "x"], "did you mean 'mini'?"),
        (["build", "mini", "kinds=both", "--out", "x"], "field kinds.0: Input should be 'single' or 'multi'"),
        (["build", "builtin", "limit=", "--out", "x"], "'limit=' has no value: write limit=VALUE"),
        (["build", "builtin", "limit=3", "limit=4", "--out", "x"], "there are two values of limit: give one of them"),
        (["build", "mini", "path=nowhere", "--out", "x"], "path has no effect on 'mini'"),
        (["build", "mini", "teacher=oracle", "--out", "x"], "is no teacher that can be asked"),
        (["build", "mini", "candidates=4", "--out", "x"], "candidates is for flaws by a model"),
        (
            ["build", "builtin", "candidates=2", "teacher=chat@http://x/v1#y", "--out", "x"],
            "is 5 or more, as many as",
        ),
        (
            ["build", "conversations", "candidates=8", "teacher=chat@http://x/v1#y", "--out", "x"],
            "candidates has no effect on 'conversations'",
        ),
        (
            ["build", "minni", "candidates=8", "teacher=chat@http://x/v1#y", "--out", "x"],
            "did you mean 'mini'?",
        ),
        (["split", "nowhere", "--test", "3", "--out", "x"], "--test goes with --sizes"),
        (
            ["train", str(RECIPES / "mini" / "grpo.yaml"), "grpo.stepz=3"],
            "unknown key grpo.stepz; did you mean 'grpo.steps'?",
        ),
        (["eval", "--judge", "nonsense", "--path", "nowhere", "--out", "x"], "no judge is named 'nonsense'"),
    ],
)
def test_a_mistake_is_a_one_line_error_and_writes_nothing(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_operating_system_error_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "xml").write_text("a file where a folder should be")
    done = run("build", "elife", f"path={tmp_path}", "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (2, f"error: {tmp_path / 'xml'}: Not a directory\n")


def test_eval_compares_two_judges(built: Path, tmp_path: Path) -> None:
    recipe = ["--recipe", RECIPES / "mini" / "warmup.yaml"]
    judges = ["--judge", "one=agentic:budget.max_searches=1@bundled:tiny", "--judge", "two=agentic@bundled:tiny"]
    done = run("eval", *judges, *recipe, "--path", built, "--limit", "2", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [row["name"] for row in summary["rows"]] == ["one", "two", "longer"]
    assert [(d["a"], d["b"]) for d in summary["differences"]] == [("two", "one")]
    assert (tmp_path / "report.html").exists()
