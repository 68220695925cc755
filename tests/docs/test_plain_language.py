"""Code, messages and docs use the field's terms: the private vocabulary of earlier versions does not come back."""

import re
import subprocess

import pytest
from paths import REPO

PRIVATE = re.compile(
    r"\b(games?|desk|shelf|told|settle[sd]?|befalls?|whoever|goes on|given again|taken up|gives? way|of theirs)\b|"
    r"so many at a time|Errors:"
)
"""Words that have a standard replacement: vote, request, queue, case store, aggregated, resumes, Raises …"""
ALLOWED = re.compile(
    r"judge_r1_games|[\"'`.]games\b|\bgames[:=]|\*game\*|\(\"game\"|--games|as told|told apart|\(told\||(told|been)\|"
)
"""Names at rest and on the wire that files and dashboards depend on."""
TEXTS = ("judge_r1", "data_builders", "retrieval", "scripts", "docs", "recipes", "clusters", "README.md", "Makefile")
DATA = (
    "*.jsonl", "*.json", "data_builders/prompts", "data_builders/lexicons",
    "judge_r1/episode/prompts/*.txt", "CHANGELOG.md",
)  # fmt: skip
"""Texts that are data: prompts whose hashes are stored, word lists, generated cases; the changelog names old terms."""


@pytest.mark.parametrize("folder", TEXTS)
def test_no_private_vocabulary(folder: str) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--", folder, *(f":!{pattern}" for pattern in DATA)],
        cwd=REPO, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = []
    for name in listed.stdout.split():
        if not name.endswith((".py", ".md", ".js", ".html", ".yaml", ".j2", ".txt", "Makefile")):
            continue
        for number, line in enumerate((REPO / name).read_text(encoding="utf-8").splitlines(), 1):
            if (match := PRIVATE.search(ALLOWED.sub("", line))) is not None:
                found.append(f"{name}:{number}: {match[0]}")
    assert not found, "\n".join(found)
