"""`build` writes the same bytes at any latency and concurrency, without duplicates or partial files."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Literal

import fake_teacher
import pytest
from factories import make_case, mini_cases

from data_builders.build import build, build_by_teacher
from data_builders.build_recipe import load_build
from data_builders.generators.base import BuildPlan
from data_builders.perturb.rules.engine import perturb
from data_builders.sources import SOURCES, Draft, Source, taught
from data_builders.teachers import Attempts, BatchPending, Teacher, TeacherError, TeacherReply, TeacherRequest
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import load_pairs

DATA = ("cases.jsonl", "pairs.jsonl", "build.json", "opinions.jsonl")


class RuleTeacher:
    """The fake teacher without a network. Delays are random up to `delay_s`; calls after `fail[0]` raise `fail[1]`."""

    name = "chat:toy"

    def __init__(self, delay_s: float = 0.0, seed: int = 0, fail: tuple[int, Exception] | None = None) -> None:
        self.rng, self.delay_s, self.fail = Random(seed), delay_s, fail
        self.running = self.calls = 0

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        self.calls += 1
        if self.fail and self.calls > self.fail[0]:
            raise self.fail[1]
        await asyncio.sleep(self.delay_s * self.rng.random())
        text = fake_teacher.liar(request.system, request.user, request.sample)
        return TeacherReply(
            text=text, input_tokens=len(request.user), output_tokens=len(text), finished=True, model="toy"
        )


def by_teacher(
    out: Path,
    teacher: Teacher,
    verifier: Teacher | None = None,
    *,
    concurrency: int = 2,
    source: str = "mini",
    limit: int = 6,
    keep: Literal["agreed", "all"] = "agreed",
) -> dict[str, object]:
    plan = BuildPlan(source=source, variants=3, limit=limit, keep=keep)
    work = build_by_teacher(plan, out, teacher, verifier=verifier, concurrency=concurrency)
    return asyncio.run(asyncio.wait_for(work, 120))


def hashes(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in DATA if (folder / name).exists()}


@pytest.fixture
def list_source(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """A source `toy` that yields the cases in the returned list."""
    cases: list[Case] = []

    def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
        yield from cases

    SOURCES.names()
    monkeypatch.setitem(SOURCES._entries, "toy", Source(read=read, help="toy", operators="mini"))
    return cases


def test_rule_build_equals_the_engine_output(tmp_path: Path) -> None:
    counts = build("mini", tmp_path, variants=2, seed=3, limit=9)
    cases = mini_cases(9, seed=3)
    abstained: Counter[str] = Counter()
    pairs = [p for c in cases for p in perturb(c, variants=2, seed=3, rule_set="mini", abstained=abstained)]
    again = tmp_path / "again"
    write_jsonl(again / "cases.jsonl", cases)
    write_jsonl(again / "pairs.jsonl", pairs)
    assert hashes(again).items() <= hashes(tmp_path).items()
    assert (counts["cases"], counts["pairs"], counts["abstained"]) == (9, len(pairs), dict(sorted(abstained.items())))
    assert json.loads((tmp_path / "build.json").read_text()) == counts
    assert sum(counts["by_kind"].values()) == len(pairs)


def test_duplicate_cases_are_dropped_and_counted(tmp_path: Path, list_source: list[Case]) -> None:
    first, second = mini_cases(2)
    list_source += [first, second, first.model_copy(update={"source": "another copy"}), second]
    for counts in (build("toy", tmp_path / "rules"), by_teacher(tmp_path / "teacher", RuleTeacher(), source="toy")):
        assert counts["cases"] == 2
        assert counts["skipped_cases"] == {"toy: the same case again": 2}
    assert [case.source for case in load_pairs(tmp_path / "rules").cases.values()] == ["mini", "mini"]


def test_a_build_without_pairs_leaves_the_folder_unchanged(tmp_path: Path, list_source: list[Case]) -> None:
    list_source.append(make_case(context="nothing fits here", reference="no step fits"))
    (tmp_path / "pairs.jsonl").write_text("old")
    with pytest.raises(JudgeError, match="gave 1 case and no pair"):
        build("toy", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.jsonl"]
    assert (tmp_path / "pairs.jsonl").read_text() == "old"


def test_build_json_accounts_for_every_variant(tmp_path: Path) -> None:
    counts = by_teacher(tmp_path, RuleTeacher(), RuleTeacher())
    teacher = counts["teacher"]
    assert isinstance(teacher, dict)
    assert sum(teacher["wanted"].values()) == 6 * 7 * 3
    abstained, verifier = counts["abstained"], counts["verifier"]
    assert isinstance(abstained, dict)
    assert isinstance(verifier, dict)
    accepted, dropped = sum(teacher["accepted"].values()), sum(verifier["dropped"].values())
    assert accepted - dropped == counts["pairs"] == len(load_pairs(tmp_path).pairs)
    assert dropped > 0
    assert sum(abstained.values()) + accepted - dropped == sum(teacher["wanted"].values())
    assert verifier["agreement"]["all"]["pairs"] == accepted
    assert len((tmp_path / "opinions.jsonl").read_text().splitlines()) == counts["pairs"]


@pytest.mark.parametrize("error", [TeacherError("the host is gone"), BatchPending("later")])
def test_a_failing_teacher_leaves_no_files(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)):
        by_teacher(tmp_path, RuleTeacher(fail=(20, error)))
    assert list(tmp_path.iterdir()) == []


def test_teacher_completes_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first draft is completed late, the second is skipped, the third and fourth are the same case."""
    cases = mini_cases(3)

    def draft(number: int) -> Draft:
        async def complete(teacher: Teacher, skipped: Counter[str], tried: Attempts) -> Case | None:
            case = cases[min(number, 2)]
            await asyncio.sleep(0.02 * (4 - number))
            answer = await teacher.ask(TeacherRequest(system=fake_teacher.ECHO, user=case.reference, max_tokens=100))
            tried.rejected["drafts: too short"] += number == 0
            if number == 1:
                skipped["drafts: no answer accepted"] += 1
                return None
            return Case.of(**{**fields(case), "reference": answer.text})

        return complete

    def drafts(path: Path | None, skipped: Counter[str]) -> Iterator[Draft]:
        return map(draft, range(4))

    SOURCES.names()
    monkeypatch.setitem(SOURCES._entries, "drafts", replace(taught("drafts", drafts, "toy"), operators="mini"))
    counts = by_teacher(tmp_path / "out", RuleTeacher(), source="drafts", limit=9)
    assert [case.case_id for case in load_pairs(tmp_path / "out").cases.values()] == [
        cases[0].case_id,
        cases[2].case_id,
    ]
    assert counts["skipped_cases"] == {"drafts: no answer accepted": 1, "drafts: the same case again": 1}
    assert counts["completing"] == {"drafts: too short": 1}
    wanted = counts["teacher"]["wanted"]  # type: ignore[index]
    assert sum(wanted.values()) == 2 * 7 * 3
    with pytest.raises(JudgeError, match="needs a teacher to complete its cases"):
        build("drafts", tmp_path / "rules")
    with pytest.raises(BatchPending, match="4 cases wait"):
        by_teacher(tmp_path / "batch", RuleTeacher(fail=(0, BatchPending("later"))), source="drafts", limit=9)


def fields(case: Case) -> dict[str, str]:
    return case.model_dump(include={"domain", "context", "decision", "reference", "source", "license"})


def test_unknown_kinds_are_rejected() -> None:
    with pytest.raises(JudgeError, match=r"field kinds\.1: Input should be 'single' or 'multi'"):
        load_build("mini", ["kinds=single,double"])
