"""A case's variants by a teacher: what lies never gets through, what is missing is asked for again with the reason."""

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
from data_builders.perturb.teacher.generate import ROUNDS, VariantStats, perturb_by_teacher
from data_builders.sources import SOURCES
from data_builders.teachers import BatchPending, TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from judge_r1.core.records import Case, ReasoningPair

Reply = Callable[[TeacherRequest], str]


class Toy:
    """Answers by a function of the ask, in an order that `seed` draws; remembers what it was asked."""

    name = "chat:toy"

    def __init__(self, reply: Reply, *, finished: bool = True, seed: int = 0) -> None:
        self.reply, self.finished, self.rng = reply, finished, Random(seed)
        self.asks: list[TeacherRequest] = []

    async def ask(self, ask: TeacherRequest) -> TeacherReply:
        self.asks.append(ask)
        await asyncio.sleep(0.005 * self.rng.random())
        return TeacherReply(text=self.reply(ask), input_tokens=7, output_tokens=3, finished=self.finished, model="toy")


def by_brain(brain: Callable[[str, str, int], str]) -> Reply:
    return lambda ask: brain(ask.system, ask.user, ask.sample)


def made_by(
    teacher: Toy, case: Case, tally: VariantStats, *, variants: int = 5, kinds: str = "single,multi"
) -> list[ReasoningPair]:
    work = perturb_by_teacher(case, teacher, kinds=kinds.split(","), variants=variants, seed=0, tally=tally)
    return asyncio.run(asyncio.wait_for(work, 60))


def by_rules(case: Case) -> dict[str, tuple[int, ...]]:
    """Flawed text and what it violates."""
    rule_set = "mini" if case.source == "mini" else "text"
    return {pair.flawed: pair.violated for pair in perturb(case, rule_set=rule_set, abstained=Counter())}


@pytest.mark.parametrize("case", [*CASES, *mini_cases(4)], ids=lambda case: f"{case.source}-{case.domain}")
@pytest.mark.parametrize("brain", [fake_teacher.honest, fake_teacher.liar])
def test_only_true_variants_get_through(case: Case, brain: Callable[[str, str, int], str]) -> None:
    """The brain's true variants are known: they are what the rules make. All else it says is a lie."""
    tally = VariantStats()
    pairs = made_by(Toy(by_brain(brain)), case, tally)
    truth = by_rules(case)
    assert len(pairs) >= len(truth) // 2
    for pair in pairs:
        assert truth[pair.flawed] == pair.violated
        assert check_pair(case, pair) is None
        assert (pair.origin.teacher, pair.origin.prompt_hash is None) == ("chat:toy", False)
    keys = [(pair.violated, pair.variant) for pair in pairs if pair.kind == "single"]
    assert len(set(keys)) == len(keys)
    assert len({pair.flawed for pair in pairs}) == len(pairs)
    assert sum(tally.accepted.values()) == sum(tally.accepted_in_round.values()) == len(pairs)
    assert sum(tally.wanted.values()) == len(pairs) + sum(tally.abstained.values())


@pytest.mark.real_data
@pytest.mark.parametrize("source", ["medrbench", "echr", "f1000rd"])
def test_true_variants_of_real_cases_are_taken_as_they_are(real_data: Path, source: str) -> None:
    """All but those multi variants that stand in the same steps as another one."""
    tally, truths, pairs = VariantStats(), 0, []
    for case in SOURCES.get(source).read(real_data, 3, 0, Counter()):
        pairs += made_by(Toy(by_brain(fake_teacher.honest)), case, tally)
        truth = by_rules(case)
        truths += len(truth)
        assert all(truth[pair.flawed] == pair.violated for pair in pairs if pair.case_id == case.case_id)
    assert truths > 50
    assert len(pairs) >= 0.95 * truths
    reasons = {key.partition(": ")[2] for key in tally.rejected}
    assert reasons <= {"the variant is missing", "the same place as another variant"}


def test_rejected_variants_alone_are_asked_for_again_with_the_reason() -> None:
    def reply(ask: TeacherRequest) -> str:
        honest = fake_teacher.honest(ask.system, ask.user, ask.sample)
        return honest if ask.sample else honest.replace("Flawed Variant 2:\n", "Flawed Variant 2:\n7. (incorrect) ")

    tally, toy = VariantStats(), Toy(reply)
    made_by(toy, LEGAL, tally, variants=3, kinds="single")
    again = [ask for ask in toy.asks if ask.sample == 1 and "there was no line" not in ask.user]
    assert len(again) >= 5  # of a set that has no second variant, others are asked for
    for ask in again:
        assert "make 1 flawed variant of" in ask.user
        assert "- Flawed Variant 2: its numbering or bullets differ from the original: '7.' instead of '1.'" in ask.user
        assert "Accepted variants have used up" in ask.user
        assert "\nFlawed Variant 2:\n" in ask.user
        assert "\nFlawed Variant 1:\n" not in ask.user
    assert tally.rejected["P3: the numbering differs"] == 1
    assert tally.accepted_in_round[2] >= len(again)


def test_what_is_not_had_after_all_rounds_is_counted() -> None:
    tally, toy = VariantStats(), Toy(lambda ask: "I would rather not.")
    assert made_by(toy, LEGAL, tally, variants=2) == []
    assert len(toy.asks) == 7 * ROUNDS
    assert len({(ask.user, ask.sample) for ask in toy.asks}) == len(toy.asks)
    assert tally.rejected["P1: the variant is missing"] == 2 * ROUNDS
    assert tally.abstained == {f"{name}: not had in {ROUNDS} rounds": 2 for name in tally.wanted}


def test_no_more_variants_are_asked_for_than_there_are_places() -> None:
    case = case_of("legal", "Ana paid 34 euros to the clerk.", "1. Ana paid 34 euros. Thus she has a claim.")
    tally, toy = VariantStats(), Toy(by_brain(fake_teacher.honest))
    made_by(toy, case, tally)
    asked = {fake_teacher._WANTED.findall(ask.user)[-1] for ask in toy.asks if "Target principle" in ask.user}
    assert asked == {"2"}
    assert tally.abstained["P1: the reference has too few steps"] == 3
    assert tally.abstained["multi: the reference has too few steps"] == 4


def test_an_answer_that_was_cut_costs_the_variant_it_was_cut_in() -> None:
    tally = VariantStats()
    made_by(Toy(by_brain(fake_teacher.honest), finished=False), LEGAL, tally, variants=2, kinds="single")
    assert tally.accepted["P3"] == 1
    assert tally.rejected["P3: the answer was cut"] == ROUNDS


def test_a_refused_ask_is_counted_and_any_other_error_ends_the_case() -> None:
    def refuse(ask: TeacherRequest) -> str:
        if "Target principle: 6" in ask.user:
            raise TeacherRefused("against our rules")
        return fake_teacher.honest(ask.system, ask.user, ask.sample)

    tally = VariantStats()
    pairs = made_by(Toy(refuse), LEGAL, tally, variants=2, kinds="single")
    assert tally.abstained["P6: the teacher refuses the ask"] == 2
    assert {6} not in [set(pair.violated) for pair in pairs]

    def fail(ask: TeacherRequest) -> str:
        raise (BatchPending if "Target principle: 1" in ask.user else TeacherError)("no")

    with pytest.raises(TeacherError) as error:
        made_by(Toy(fail), LEGAL, VariantStats())
    assert not isinstance(error.value, BatchPending)
    with pytest.raises(BatchPending):
        made_by(Toy(lambda ask: (_ for _ in ()).throw(BatchPending("later"))), LEGAL, VariantStats())


def test_the_same_answers_give_the_same_pairs_whatever_order_they_come_in() -> None:
    first, second = (made_by(Toy(by_brain(fake_teacher.liar), seed=n), LEGAL, VariantStats()) for n in range(2))
    assert first == second
