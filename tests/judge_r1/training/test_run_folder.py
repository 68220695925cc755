import json
import subprocess
import sys
from pathlib import Path

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.core.run_log import read_rows
from judge_r1.training.recipe import DataConfig, Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder, versions

RECIPE = Recipe(name="toy", stage="sft", model="m", data=DataConfig(train=Path("data")))


def test_a_run_folder_says_what_it_ran(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "a" / "run", RECIPE)
    assert load_recipe(run.folder / "recipe.yaml") == RECIPE
    assert json.loads((run.folder / "versions.json").read_text())["python"] == versions()["python"]
    assert versions()["pydantic"]
    assert not run.model.exists()


def test_a_folder_holds_one_recipe(tmp_path: Path) -> None:
    RunFolder(tmp_path, RECIPE).log({"step": 1})
    RunFolder(tmp_path, RECIPE)
    with pytest.raises(JudgeError, match="holds a run of another recipe"):
        RunFolder(tmp_path, RECIPE.model_copy(update={"seed": 1}))
    assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 1}]


def test_rows_are_appended_and_cut_back(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("torn", ['{"step": 2, "te', '{"step": 2, "text": "“é'])
def test_a_last_line_that_a_kill_has_torn_is_left_out_and_cut_away(tmp_path: Path, torn: str) -> None:
    """Torn at any byte, in the middle of a character too; the run that goes on starts on a line of its own."""
    run = RunFolder(tmp_path, RECIPE)
    run.log({"step": 1})
    for cut in range(1, len(torn.encode()) + 1):
        run.truncate_after(1)
        with (tmp_path / "metrics.jsonl").open("ab") as file:
            file.write(torn.encode()[:cut])
        assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 1}]
    run.truncate_after(1)
    run.log({"step": 2})
    assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 1}, {"step": 2}]


def test_damage_elsewhere_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n{"st\n{"step": 2}\n')
    with pytest.raises(JudgeError, match=r"metrics\.jsonl, line 2: not JSON"):
        read_rows(tmp_path / "metrics.jsonl")


DISK = """
import resource, sys
from pathlib import Path
from judge_r1.core.errors import JudgeError
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.recipe import DataConfig, Recipe
RECIPE = Recipe(name="toy", stage="sft", model="m", data=DataConfig(train=Path("data")))
run = RunFolder(Path(sys.argv[1]), RECIPE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    for step in range(1000):
        run.log({"step": step, "text": "x" * 90})
except JudgeError as error:
    print(step, error)
    sys.exit(3)
"""


def test_no_space_left_keeps_every_line_whole(tmp_path: Path) -> None:
    """The operating system takes a part of the line that does not fit; what it took is given back."""
    done = subprocess.run([sys.executable, "-c", DISK, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "cannot be appended to" in done.stdout
    rows = read_rows(tmp_path / "metrics.jsonl")
    assert [row["step"] for row in rows] == list(range(int(done.stdout.split()[0])))
    assert (tmp_path / "metrics.jsonl").read_bytes().endswith(b"\n")
    assert len(rows) > 50
