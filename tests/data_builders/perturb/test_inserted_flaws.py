"""Flaws of P3 and P6 that a strong language model inserted in 20 real references, asked by our prompts (2026-11-30).

`inserted_flaws.json` has them by source of the case: principle, variant, the words that stood there and those in their
place. Of 40 and 40, 24 and 25 read as if a specialist in haste had written them, by their author's own judgement.
"""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from source_factories import FunctionTeacher

from data_builders.perturb.teacher.generate import VariantStats, perturb_by_teacher
from data_builders.sources import SOURCES
from data_builders.teachers import TeacherRequest
from judge_r1.core.records import Case, ReasoningPair

WRITTEN: dict[str, list[tuple[int, int, str, str]]] = json.loads(
    (Path(__file__).parent / "inserted_flaws.json").read_text(encoding="utf-8")
)
FOLDERS = {"medrbench": "medical_medrbench", "echr": "legal_echr_argmining", "f1000rd": "academic_f1000rd"}


def accepted(case: Case) -> list[ReasoningPair]:
    """The pairs of the answers that the teacher would give to our requests for P3 and P6."""

    def answer(request: TeacherRequest) -> str:
        target = re.search(r"^Target principle: (\d)", request.user, re.MULTILINE)
        assert target
        assert "NO PLACE" not in request.user
        parts = []
        for principle, number, old, new in WRITTEN[case.source]:
            if principle == int(target[1]):
                assert old in case.reference
                parts.append(f"Flawed Variant {number}:\n{case.reference.replace(old, new, 1)}")
        return "\n\n".join(parts)

    work = perturb_by_teacher(
        case, FunctionTeacher(answer), kinds=("single",), variants=2, seed=0, stats=VariantStats(), among=("P3", "P6")
    )
    return asyncio.run(work)


@pytest.mark.real_data
def test_written_flaws_of_p3_and_p6_are_accepted_and_reveal_nothing_by_their_length(real_data: Path) -> None:
    cases = [
        case
        for name, folder in FOLDERS.items()
        for case in SOURCES.get(name).read(real_data / folder, None, 0, Counter())
        if case.source in WRITTEN
    ]
    assert len(cases) == len(WRITTEN) == 20
    pairs = [pair for case in cases for pair in accepted(case)]
    assert Counter(pair.violated for pair in pairs) == {(3,): 40, (6,): 40}
    longer = sum(len(pair.flawed.split()) > len(pair.reference.split()) for pair in pairs)
    assert 32 <= longer <= 48
