"""Variants by a teacher: false ones are rejected, and missing ones are requested again with the reason."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import fake_teacher
import pytest
from factories import mini_cases
from perturb_factories import CASES, LEGAL, case_of

from data_builders.perturb.pair_checks import check_pair
from data_builders.perturb.rules.engine import perturb
from data_builders.perturb.teacher.generate import VariantStats, perturb_by_teacher
from data_builders.sources import SOURCES
from data_builders.teachers import BatchPending, TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from judge_r1.core.records import Case, ReasoningPair

Reply = Callable[[TeacherRequest], str]


class FunctionTeacher:
    """Answers with a function of the request after a random delay; records the requests."""

    name = "chat:test"

    def __init__(self, reply: Reply, *, finished: bool = True, seed: int = 0) -> None:
        self.reply, self.finished, self.rng = reply, finished, Random(seed)
        self.requests: list[TeacherRequest] = []

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        self.requests.append(request)
        await asyncio.sleep(0.005 * self.rng.random())
        return TeacherReply(
            text=self.reply(request), input_tokens=7, output_tokens=3, finished=self.finished, model="test"
        )


def replies_of(fake: Callable[[str, str, int], str]) -> Reply:
    return lambda request: fake(request.system, request.user, request.sample)


def pairs_by(
    teacher: FunctionTeacher, case: Case, stats: VariantStats, *, variants: int = 5, kinds: str = "single,multi"
) -> list[ReasoningPair]:
    work = perturb_by_teacher(case, teacher, kinds=kinds.split(","), variants=variants, seed=0, stats=stats)
    return asyncio.run(asyncio.wait_for(work, 60))


def by_rules(case: Case) -> dict[str, tuple[int, ...]]:
    """Flawed texts and the principles they violate."""
    rule_set = "mini" if case.source == "mini" else fake_teacher.RULES
    return {pair.flawed: pair.violated for pair in perturb(case, rule_set=rule_set, abstained=Counter())}


@pytest.mark.parametrize("case", [*CASES, *mini_cases(4)], ids=lambda case: f"{case.source}-{case.domain}")
@pytest.mark.parametrize("fake", [fake_teacher.honest, fake_teacher.liar])
def test_only_true_variants_are_accepted(case: Case, fake: Callable[[str, str, int], str]) -> None:
    """The true variants of the fake teacher are those of the rules; all others are false."""
    stats = VariantStats()
    pairs = pairs_by(FunctionTeacher(replies_of(fake)), case, stats)
    truth = by_rules(case)
    assert len(pairs) >= len(truth) // 2
    for pair in pairs:
        assert truth[pair.flawed] == pair.violated
        assert check_pair(case, pair) is None
        assert (pair.origin.teacher, pair.origin.prompt_hash is None) == ("chat:test", False)
    keys = [(pair.violated, pair.variant) for pair in pairs if pair.kind == "single"]
    assert len(set(keys)) == len(keys)
    assert len({pair.flawed for pair in pairs}) == len(pairs)
    assert sum(stats.accepted.values()) == sum(stats.accepted_in_round.values()) == len(pairs)
    assert sum(stats.wanted.values()) == len(pairs) + sum(stats.abstained.values())


@pytest.mark.real_data
@pytest.mark.parametrize("source", ["medrbench", "echr", "f1000rd"])
def test_true_variants_of_real_cases_are_accepted_unchanged(real_data: Path, source: str) -> None:
    """Except for multi variants that change the same steps as another one."""
    stats, truths, pairs = VariantStats(), 0, []
    for case in SOURCES.get(source).read(real_data, 3, 0, Counter()):
        pairs += pairs_by(FunctionTeacher(replies_of(fake_teacher.honest)), case, stats)
        truth = by_rules(case)
        truths += len(truth)
        assert all(truth[pair.flawed] == pair.violated for pair in pairs if pair.case_id == case.case_id)
    assert truths > 50
    assert len(pairs) >= 0.95 * truths
    reasons = {key.partition(": ")[2] for key in stats.rejected}
    assert reasons <= {"the variant is missing", "the same step as another variant"}


def test_only_rejected_variants_are_requested_again_with_the_reason() -> None:
    def reply(request: TeacherRequest) -> str:
        honest = fake_teacher.honest(request.system, request.user, request.sample)
        return honest if request.sample else honest.replace("Flawed Variant 2:\n", "Flawed Variant 2:\n7. (incorrect) ")

    stats, teacher = VariantStats(), FunctionTeacher(reply)
    pairs_by(teacher, LEGAL, stats, variants=3, kinds="single")
    again = [r for r in teacher.requests if r.sample == 1 and "there was no line" not in r.user]
    assert len(again) >= 5  # sets without a second variant request other numbers
    for request in again:
        assert "make 1 flawed variant of" in request.user
        assert (
            "- Flawed Variant 2: its numbering or bullets differ from the original: '7.' instead of '1.'"
            in request.user
        )
        assert "Accepted variants have used up" in request.user
        assert "\nFlawed Variant 2:\n" in request.user
        assert "\nFlawed Variant 1:\n" not in request.user
    assert stats.rejected["P3: the numbering differs"] == 1
    assert stats.accepted_in_round[2] >= len(again)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Flawed Variant 1:\nNO PLACE: no step fits", "no natural place"),
        ("I'm sorry, but I can't help with that.", "the teacher declines the request"),
    ],
)
def test_what_the_teacher_does_not_write_is_counted_and_not_requested_again(answer: str, reason: str) -> None:
    stats, teacher = VariantStats(), FunctionTeacher(lambda request: answer)
    assert pairs_by(teacher, LEGAL, stats, variants=1) == []
    assert [request.sample for request in teacher.requests] == [0] * 7
    sets = [*(f"P{n}" for n in range(1, 7)), "multi"]
    assert (stats.abstained, stats.rejected) == ({f"{name}: {reason}": 1 for name in sets}, {})
    assert (stats.rejected_answer is None) == (reason == "no natural place")


def test_no_more_variants_are_requested_than_there_are_steps() -> None:
    case = case_of("legal", "Ana paid 34 euros to the clerk.", "1. Ana paid 34 euros. Thus she has a claim.")
    stats, teacher = VariantStats(), FunctionTeacher(replies_of(fake_teacher.honest))
    pairs_by(teacher, case, stats)
    wanted = {fake_teacher._WANTED.findall(r.user)[-1] for r in teacher.requests if "Target principle" in r.user}
    assert wanted == {"2"}
    assert stats.abstained["P1: the reference has too few steps"] == 3
    assert stats.abstained["multi: the reference has too few steps"] == 4


def test_a_refused_request_is_counted_and_any_other_error_is_raised() -> None:
    def refuse(request: TeacherRequest) -> str:
        if "Target principle: 6" in request.user:
            raise TeacherRefused("against our rules")
        return fake_teacher.honest(request.system, request.user, request.sample)

    stats = VariantStats()
    pairs = pairs_by(FunctionTeacher(refuse), LEGAL, stats, variants=2, kinds="single")
    assert stats.abstained["P6: the teacher refused the request"] == 2
    assert {6} not in [set(pair.violated) for pair in pairs]

    def fail(request: TeacherRequest) -> str:
        raise (BatchPending if "Target principle: 1" in request.user else TeacherError)("no")

    with pytest.raises(TeacherError) as error:
        pairs_by(FunctionTeacher(fail), LEGAL, VariantStats())
    assert not isinstance(error.value, BatchPending)
    with pytest.raises(BatchPending):
        pairs_by(FunctionTeacher(lambda request: (_ for _ in ()).throw(BatchPending("later"))), LEGAL, VariantStats())
