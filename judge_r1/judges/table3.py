"""The prompting baselines of an evaluation: the rows of the paper's Table 3 that need one model and no training, and
usual prompting methods beside them, all with the answer of Table 11 (docs/baselines.md)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from judge_r1.core.items import Item
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.direct import SHOTS
from judge_r1.judges.few_shot import FewShotExamples
from judge_r1.judges.panel import judge_spec

SAMPLES, TEMPERATURE = 5, 0.7
"""Votes of self-consistency, and their temperature (Wang et al., 2023, section 3.1)."""
SET_BY_TABLE_11 = ("context", "prompt", "search")
"""Options that the prompt of Table 11 decides."""
RETRIEVED = 9
"""Passages of retrieve-once: as many as three searches of the agent return."""


def with_table11(specs: Sequence[str]) -> list[str]:
    """The SPECs, and after each agentic judge the same model with the prompt of the paper's evaluation (Table 11): the
    whole case, no search, one JSON answer. Its other options, such as token limits and a timeout, are kept.

    Raises:
        BadJudge: No judge is agentic, or a SPEC cannot be read.
    """
    rows = []
    for spec in specs:
        found = judge_spec(spec)
        rows.append(spec)
        if found.name == "agentic":
            kept = [option for option in found.options if option.partition("=")[0] not in SET_BY_TABLE_11]
            row = f"{found.row} Table 11" if found.row else None
            rows.append(str(replace(found, row=row, name="direct", options=("context=full", *kept))))
    if len(rows) == len(specs):
        raise BadJudge("--table11 adds a row to each agentic judge: none is given")
    return rows


def baseline_specs(model: str, examples: Path | None, items: Sequence[Item], build: JudgeBuild) -> list[str]:
    """The SPECs of all baselines with `model`, a backend. The first one, `direct`, is what the others are compared
    with. All inputs are checked now, since the rows before a faulty one may run for hours.

    Raises:
        BadJudge: There are no examples, their path cannot stand in a SPEC, or an item has no case.
        JudgeError: The examples cannot be read.
    """
    if examples is None:
        raise BadJudge("--baselines includes few-shot: give --examples a folder of training pairs, not that of --path")
    if set(str(examples)) & set(",@|()"):
        raise BadJudge(f"--examples {examples}: a SPEC cannot hold this path, rename the folder without , @ | ( and )")
    if without := next((item for item in items if item.case_id is None), None):
        raise BadJudge(f"--baselines needs a case for each item, but item {without.item_id} has none: use --judge")
    FewShotExamples(examples, SHOTS, build.texts, build.sampling.seed)
    thinking = "direct:prompt=chain-of-thought"
    return [
        f"direct=direct@{model}",
        f"chain-of-thought={thinking}@{model}",
        f"few-shot=direct:examples={examples},shots={SHOTS}@{model}",
        f"self-consistency=panel:samples={SAMPLES},temperature={TEMPERATURE}({thinking}@{model})",
        f"retrieve-once=direct:retrieve={RETRIEVED}@{model}",
        f"search-r1 global index=search-r1@{model}",
    ]
