import json
import sys
from pathlib import Path

import pytest
from process_faults import forked

from judge_r1.core.errors import JudgeError
from judge_r1.files.run_log import read_rows
from judge_r1.training.checkpoints import processes_of
from judge_r1.training.recipe import DataConfig, Recipe, dump_recipe, load_recipe
from judge_r1.training.run_folder import RunFolder, versions

RECIPE = Recipe(name="test", stage="sft", model="m", data=DataConfig(train=Path("data")))


def test_a_run_folder_holds_recipe_and_versions(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "a" / "run", RECIPE)
    assert load_recipe(run.folder / "recipe.yaml") == RECIPE
    assert json.loads((run.folder / "versions.json").read_text())["python"] == versions()["python"]
    assert versions()["pydantic"]
    assert not run.model.exists()


def test_a_run_folder_accepts_one_recipe(tmp_path: Path) -> None:
    RunFolder(tmp_path, RECIPE).log({"step": 1})
    RunFolder(tmp_path, RECIPE)
    null = RECIPE.model_copy(update={"grpo": RECIPE.grpo.model_copy(update={"verl": {"key": None}})})
    with pytest.raises(JudgeError, match=r"another recipe, with grpo\.verl\.key 'unset' instead of None: choose"):
        RunFolder(tmp_path, null)
    with pytest.raises(JudgeError, match="another recipe, with seed 0 instead of 1: choose"):
        RunFolder(tmp_path, RECIPE.model_copy(update={"seed": 1}))
    assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 1}]


def test_a_run_that_failed_before_its_first_step_does_not_block_its_folder(tmp_path: Path) -> None:
    failed = RunFolder(tmp_path, RECIPE)
    failed.trace({"step": 1})
    failed.checkpoints.mkdir()
    for name in ("data.json", "metrics.jsonl", "checkpoints/processes.json"):
        (tmp_path / name).touch()
    other = RECIPE.model_copy(update={"seed": 1})
    RunFolder(tmp_path, other)
    assert load_recipe(tmp_path / "recipe.yaml") == other
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recipe.yaml", "versions.json"]


def test_a_run_with_a_checkpoint_keeps_its_folder(tmp_path: Path) -> None:
    (RunFolder(tmp_path, RECIPE).checkpoints / "checkpoint-2").mkdir(parents=True)
    with pytest.raises(JudgeError, match="holds a run of another recipe"):
        RunFolder(tmp_path, RECIPE.model_copy(update={"seed": 1}))


def test_a_recipe_file_of_the_user_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(dump_recipe(RECIPE))
    with pytest.raises(JudgeError, match="holds a run of another recipe"):
        RunFolder(tmp_path, RECIPE.model_copy(update={"seed": 1}))


def test_rows_are_appended_and_truncated(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, RECIPE)
    rows = [{"step": step, "text": "“é”\u2028"} for step in (1, 2, 2, 3)]
    for row in rows:
        run.log(row)
        run.trace(row | {"trace": True})
    before = (tmp_path / "metrics.jsonl").read_bytes()
    run.truncate_after(3)
    assert (tmp_path / "metrics.jsonl").read_bytes() == before
    run.truncate_after(2)
    assert read_rows(tmp_path / "metrics.jsonl") == rows[:3]
    assert [row["step"] for row in read_rows(tmp_path / "traces.jsonl")] == [1, 2, 2]
    run.truncate_after(0)
    assert read_rows(tmp_path / "metrics.jsonl") == []
    assert read_rows(tmp_path / "absent.jsonl") == []


@pytest.mark.parametrize("partial", ['{"step": 2, "te', '{"step": 2, "text": "“é'])
def test_an_incomplete_last_line_is_ignored_and_removed(tmp_path: Path, partial: str) -> None:
    """The line may end at any byte, also within a character. The resumed run starts a new line."""
    run = RunFolder(tmp_path, RECIPE)
    run.log({"step": 1})
    for cut in range(1, len(partial.encode()) + 1):
        run.truncate_after(1)
        with (tmp_path / "metrics.jsonl").open("ab") as file:
            file.write(partial.encode()[:cut])
        assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 1}]
    run.truncate_after(1)
    run.log({"step": 2})
    assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 1}, {"step": 2}]


def test_invalid_json_in_another_line_is_an_error_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n{"st\n{"step": 2}\n')
    with pytest.raises(JudgeError, match=r"metrics\.jsonl, line 2: not JSON"):
        read_rows(tmp_path / "metrics.jsonl")


@pytest.mark.parametrize("content", ['[1, 2]\n{"step": 1}\n', '{"loss": 1.0}\n', '{"step": "one"}\n'])
def test_a_row_without_a_step_is_an_error_for_every_reader(tmp_path: Path, content: str) -> None:
    metrics = tmp_path / "metrics.jsonl"
    metrics.write_text(content)
    with pytest.raises(JudgeError, match=f"{metrics}, line 1: must be an object with a step"):
        read_rows(metrics)


@pytest.mark.parametrize("content", ["", "[]", "[1", '{"processes": "two"}'])
def test_damaged_files_of_a_run_are_one_line_errors(tmp_path: Path, content: str) -> None:
    (tmp_path / "processes.json").write_text(content)
    with pytest.raises(JudgeError, match=r"processes\.json"):
        processes_of(tmp_path)


def test_a_full_disk_leaves_complete_lines(tmp_path: Path) -> None:
    """The operating system may write a part of the line that does not fit. That part is removed."""

    def log_until_full() -> None:
        run = RunFolder(tmp_path, RECIPE)
        for step in range(1000):
            try:
                run.log({"step": step, "text": "x" * 90})
            except JudgeError as error:
                print(step, error)
                sys.exit(3)

    done = forked(log_until_full, file_limit=10_000)
    assert done.returncode == 3, done.stderr
    assert "could not be written" in done.stdout
    rows = read_rows(tmp_path / "metrics.jsonl")
    assert [row["step"] for row in rows] == list(range(int(done.stdout.split()[0])))
    assert (tmp_path / "metrics.jsonl").read_bytes().endswith(b"\n")
    assert len(rows) > 50
