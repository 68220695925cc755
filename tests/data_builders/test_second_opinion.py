"""Verifier opinions are parsed strictly, compared with the label and counted by principle."""

import asyncio
from pathlib import Path

import pytest
from factories import make_case, make_pair, mini_pairs
from hypothesis import given
from hypothesis import strategies as st

from data_builders.build import build_by_teacher
from data_builders.generators.base import BuildPlan
from data_builders.generators.pairs import Pairs
from data_builders.second_opinion import Agreement, read_opinion, verify
from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from judge_r1.core.errors import JudgeError

CASE = make_case()


@pytest.mark.parametrize(
    ("text", "worse", "violated"),
    [
        ("Worse: A\nViolated Principles: [2]\nWhy: 35 is not 34.", "A", (2,)),
        ("They differ in a number.\n\n**Worse:** Reasoning B\n**Violated Principles:** [P4, 2]\n", "B", (2, 4)),
        ("worse: b.\nviolated principle: [1]", "B", (1,)),
        ("Worse: neither\nWhy: 7 kg are seven kg.", None, ()),
        ("Worse: neither\nWorse: B\nViolated Principles: [2]", None, ()),
        ("Worse: A or B\nViolated Principles: [2]", None, ()),
        ("Worse: A\nWorse: B\nViolated Principles: [2]", None, ()),
        ("Worse: A\nViolated Principles: [7]", None, ()),
        ("Worse: A", None, ()),
        ("Both are fine.", None, ()),
    ],
)
def test_opinions_are_parsed_strictly(text: str, worse: str | None, violated: tuple[int, ...]) -> None:
    opinion = read_opinion("p", "chat:toy", text)
    assert (opinion.worse, opinion.violated) == (worse, violated)
    assert opinion.neither == text.endswith("seven kg.")


@given(st.text(alphabet="WorsePinclVatd: AB[]1,\n*"))
def test_any_answer_is_parsed_or_marked_unreadable(text: str) -> None:
    opinion = read_opinion("p", "chat:toy", text)
    assert (opinion.worse is None) == (opinion.violated == ())


class ScriptedVerifier:
    """Names the flawed reasoning as worse, or answers with `overrides[side]`."""

    name = "chat:second"

    def __init__(self, overrides: dict[str, str | Exception]) -> None:
        self.overrides = overrides

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        worse = "A" if "35" in request.user.split("</reasoning_a>")[0] else "B"
        text: str | Exception = self.overrides.get(worse, f"Worse: {worse}\nViolated Principles: [2]\nWhy: it says 35.")
        if isinstance(text, Exception):
            raise text
        return TeacherReply(text=text, input_tokens=1, output_tokens=1, finished=True, model="second")


PAIRS = [
    make_pair(CASE, f"1. ana paid 35{more}, so this counts.", seed=n) for n, more in enumerate(["", " then", " now"])
]


def test_disagreement_is_counted_by_kind() -> None:
    data = mini_pairs(40)
    agreement = Agreement()
    for number, pair in enumerate(data.pairs):
        right = "B" if pair.preferred == "A" else "A"
        answers = [
            f"Worse: {right}\nViolated Principles: {list(pair.violated)}",
            f"Worse: {right}\nViolated Principles: [1, 6]",
        ]
        answers += [f"Worse: {pair.preferred}\nViolated Principles: {list(pair.violated)}", "I cannot tell."]
        agreement.add(pair, read_opinion(pair.pair_id, "x", answers[number % 4]))
    shares = agreement.as_dict()
    assert {"P1", "P2", "P3", "P4", "multi", "all"} <= set(shares)
    assert shares["all"]["pairs"] == len(data.pairs)
    assert sum(share["pairs"] for name, share in shares.items() if name != "all") == len(data.pairs)
    assert shares["all"]["worse_agreed"] == pytest.approx(0.5, abs=0.03)
    assert shares["all"]["principles_agreed"] == pytest.approx(0.25, abs=0.03)
    assert shares["all"]["unreadable"] == pytest.approx(len(data.pairs) / 4, abs=1)


def test_refused_requests_give_no_opinion_and_other_errors_propagate() -> None:
    refused = asyncio.run(verify(CASE, PAIRS[:1], ScriptedVerifier(dict.fromkeys("AB", TeacherRefused("no")))))
    assert [opinion.worse for opinion in refused] == [None]
    with pytest.raises(TeacherError, match="down"):
        asyncio.run(verify(CASE, PAIRS, ScriptedVerifier(dict.fromkeys("AB", TeacherError("down")))))


@pytest.mark.parametrize(
    ("answer", "kept", "dropped"),
    [
        ("Worse: {flawed}\nViolated Principles: [2]\nWhy: x", 2, {}),
        ("Worse: {flawed}\nViolated Principles: [1]\nWhy: x", 0, {"P2: the verifier does not confirm the label": 2}),
        ("Worse: {flawed}\nViolated Principles: [2, 5]\nWhy: x", 0, {"P2: the verifier does not confirm the label": 2}),
        ("Worse: {better}\nViolated Principles: [2]\nWhy: x", 0, {"P2: the verifier does not confirm the label": 2}),
        ("Worse: neither\nWhy: both agree with the case", 0, {"P2: the verifier does not confirm the label": 2}),
        ("I cannot say.", 1, {"P2: the verifier gave no readable answer": 1}),
    ],
)
def test_a_build_keeps_what_the_verifier_confirms_or_a_rule_where_it_says_nothing(
    tmp_path: Path, answer: str, kept: int, dropped: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two P2 pairs one has another number than the case, which rules see. A no of the verifier wins over them."""
    case = make_case(
        "Ana paid 34 crowns. The tax was high.", reference="1. Ana paid 34 crowns.\n2. The tax was high.\n3. So he won."
    )
    texts = [case.reference.replace("34", "35"), case.reference.replace("high", "low")]

    class Script:
        name = "chat:toy"

        async def ask(self, request: TeacherRequest) -> TeacherReply:
            text = "\n\n".join(f"Flawed Variant {k}:\n{flawed}" for k, flawed in enumerate(texts, 1))
            if "<reasoning_a>" in request.user:
                flawed = "B" if case.reference in request.user.split("</reasoning_a>")[0] else "A"
                text = answer.format(flawed=flawed, better="AB".replace(flawed, ""))
            elif "Target principle: 2." not in request.user:
                text = ""
            return TeacherReply(text=text, input_tokens=1, output_tokens=1, finished=True, model="toy")

    monkeypatch.setattr(Pairs, "read", lambda *_: iter([case]))
    for keep, pairs in (("agreed", kept), ("all", 2)):
        out = tmp_path / keep
        plan = BuildPlan(source="builtin", kinds=("single",), variants=2, keep=keep)  # type: ignore[arg-type]
        if not pairs:
            [(why, count)] = dropped.items()
            with pytest.raises(JudgeError, match=f"{count}  {why.partition(': ')[2]}"):
                asyncio.run(build_by_teacher(plan, out, Script(), verifier=Script()))
            continue
        report = asyncio.run(build_by_teacher(plan, out, Script(), verifier=Script()))
        opinions = (out / "opinions.jsonl").read_text().splitlines()
        assert (report["pairs"], len(opinions)) == (pairs, pairs)
        assert report["verifier"]["agreement"]["all"]["pairs"] == 2
        assert report["verifier"]["dropped"] == (dropped if keep == "agreed" else {})
        assert report["teacher"]["labels"] == {"P2: contradicts the case": 1, "P2: not checked by rules": 1}
