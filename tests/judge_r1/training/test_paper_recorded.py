"""The paper's recipes, and the prompts of judges and teachers, are recorded byte for byte: a change is deliberate.

Rewrite the record with REWRITE_GOLDEN=1, and say in the changelog what changed.
"""

import json
import os
from hashlib import sha256
from pathlib import Path

from paths import RECIPES

ROOT, RECORD = RECIPES.parent, Path(__file__).with_name("paper_recorded.json")
PATTERNS = (
    "recipes/paper/*.yaml", "recipes/bases/*.yaml", "judge_r1/episode/prompts/*.txt", "data_builders/prompts/**/*.txt",
)  # fmt: skip


def test_recipes_and_prompts_of_the_paper_are_those_recorded() -> None:
    files = sorted(file for pattern in PATTERNS for file in ROOT.glob(pattern))
    found = {str(file.relative_to(ROOT)): sha256(file.read_bytes()).hexdigest()[:16] for file in files}
    if os.environ.get("REWRITE_GOLDEN"):
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
    recorded = json.loads(RECORD.read_text())
    assert {name for name in found.keys() | recorded.keys() if found.get(name) != recorded.get(name)} == set()
