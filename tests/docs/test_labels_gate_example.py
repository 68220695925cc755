"""The steps of examples/labels_gate.yml, run in a folder with labels and a gate file."""

import os
import subprocess
import sys
from pathlib import Path

import yaml
from label_factories import TRUSTED, rows_of, scripted, write_csv
from paths import REPO
from typer.testing import CliRunner

from judge_r1.cli import app


def test_the_workflow_passes_a_judge_and_stops_a_worse_one(tmp_path: Path) -> None:
    workflow = yaml.safe_load((REPO / "examples" / "labels_gate.yml").read_text())
    steps = {step["name"]: step for step in workflow["jobs"]["gate"]["steps"] if "name" in step}
    rows = [{k: v for k, v in row.items() if k != "verdict"} for row in rows_of(TRUSTED)]
    labels = write_csv(tmp_path / "labels.csv", rows)
    state = {"worse": False}
    with scripted(lambda prompt, word: "pass" if state["worse"] else word) as server:
        spec = f"judge=direct@{server.url}#toy"
        for arguments in (
            ["check", labels, "--judge", spec, "--out", tmp_path / "checked"],
            ["pin", tmp_path / "checked", "--out", tmp_path / "judge.gate.json"],
        ):
            found = CliRunner().invoke(app, ["labels", *map(str, arguments)])
            assert found.exit_code == 0, found.output
        for worse, status, said in ((False, 0, "gate: pass"), (True, 1, "drift")):
            state["worse"] = worse
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            env = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "shown.md")}
            command = steps["gate"]["run"].replace("--out gate", f"--out gate{status}")
            ran = subprocess.run(["bash", "-e", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True)
            assert ran.returncode == status, ran.stderr
            assert said in ran.stdout
            shown = subprocess.run(["bash", "-e", "-c", steps["summary"]["run"]], cwd=tmp_path, env=env, check=False)
            assert shown.returncode == 0
    assert "labels gate: fail" in (tmp_path / "shown.md").read_text()
