"""The sources in `build --help`, in the docs table, and in the example of the docs."""

import json
import re
from pathlib import Path

from command_server import run
from paths import REPO


def test_the_example_of_the_docs_builds(tmp_path: Path) -> None:
    text = (REPO / "docs" / "build_dataset.md").read_text().partition("### Your own domain")[2]
    blocks = dict(reversed(re.findall(r"```(yaml|json)\n(.*?)```", text, re.S)))  # the first of each
    (tmp_path / "insurance.yaml").write_text(blocks["yaml"])
    (tmp_path / "claims.json").write_text(blocks["json"])
    built = run("build", "custom", "--path", tmp_path / "insurance.yaml", "--out", tmp_path / "out")
    assert built.returncode == 0, built.stderr
    (case,) = (json.loads(line) for line in (tmp_path / "out" / "cases.jsonl").open())
    assert (case["domain"], case["source"]) == ("insurance", "insurance/C-1")
    pairs = [json.loads(line) for line in (tmp_path / "out" / "pairs.jsonl").open()]
    assert {principle for pair in pairs for principle in pair["violated"]} >= {2, 4, 6}
    checked = run("validate", tmp_path / "out")
    assert "(100.0%)" in checked.stdout, checked.stdout
    assert checked.returncode == 0
