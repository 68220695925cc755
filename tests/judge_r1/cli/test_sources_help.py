"""The example of a source of one's own."""

import json
from pathlib import Path

from command_server import run
from paths import REPO


def test_the_example_builds(tmp_path: Path) -> None:
    built = run("build", "custom", f"path={REPO / 'examples' / 'insurance.yaml'}", "--out", tmp_path / "out")
    assert built.returncode == 0, built.stderr
    (case,) = (json.loads(line) for line in (tmp_path / "out" / "cases.jsonl").open())
    assert (case["domain"], case["source"]) == ("insurance", "insurance/C-1")
    pairs = [json.loads(line) for line in (tmp_path / "out" / "pairs.jsonl").open()]
    assert {principle for pair in pairs for principle in pair["violated"]} >= {2, 6}
    checked = run("validate", tmp_path / "out")
    assert "(100.0%)" in checked.stdout, checked.stdout
    assert checked.returncode == 0
