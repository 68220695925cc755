"""Decision models as judges: `decision@URL#MODEL`, a server that answers typed questions with probabilities in one pass
(TypeSafe's `POST /v1/systemone`, as jevcompat 0.1.1 specifies it).

A pair is asked about in both orders, and its probabilities are means over these, so a preference has no order. A yes/no
question for each principle and candidate names what the worse one violates (probability of yes at least 1/2).
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, get_args

from pydantic import Field

from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Judgment, PairwiseVerdict, Winner
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.yaml_config import read_options
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, JudgeOutput
from judge_r1.judges.baselines import pair_of
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.runners import PostingJudge, PostingOptions

PATH = "v1/systemone"
SUM_TOLERANCE = 0.05
"""How far from 1 the probabilities of a choice may sum, as in jevcompat: servers round them."""
Chances = Mapping[Winner, float]
_SWAPPED: Mapping[Winner, Winner] = {"A": "B", "B": "A", "tie": "tie"}


def chances_of(answer: Mapping[str, Any], options: tuple[Winner, ...]) -> tuple[Chances, bool]:
    """The probability of each option in the answer to a choice, and whether the server gave them: a choice without
    probabilities counts 1. Raises what a `Client` takes for another form: ValueError, LookupError, …"""
    if (stated := answer.get("probabilities")) is None:
        chosen = answer["choice"]
        if chosen not in options:
            raise ValueError(f"the choice {chosen!r} is no option")
        return {option: float(option == chosen) for option in options}, False
    if set(stated) != set(options):
        raise ValueError(f"probabilities of {sorted(stated)}, and the options are {sorted(options)}")
    found: Chances = {option: probability(stated[option]) for option in options}
    if abs(math.fsum(found.values()) - 1) > SUM_TOLERANCE:
        raise ValueError(f"probabilities that sum to {math.fsum(found.values()):g}")
    return found, True


def probability(value: Any) -> float:
    """Raises: ValueError for anything but a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no probability")
    return float(value)


def decide(chances: Chances) -> tuple[Winner, float | None]:
    """The likeliest option, a tie where two are; and the probability of a preference among A and B alone, which is not
    the `confidence` of the protocol. None for a tie."""
    highest = max(chances.values())
    winners = [option for option, chance in chances.items() if chance == highest]
    if len(winners) > 1 or winners[0] == "tie":
        return "tie", None
    return winners[0], chances[winners[0]] / (chances["A"] + chances["B"])


class DecisionOptions(PostingOptions):
    ties: bool = Field(False, description="offer a tie as the third option")


class DecisionJudge(PostingJudge):
    def __init__(self, build: JudgeBuild) -> None:
        own = read_options(DecisionOptions, build.options, "judge decision")
        super().__init__("decision", build, PATH, timeout_s=own.timeout, asks_both_orders=True, ties=own.ties)
        self._options: tuple[Winner, ...] = get_args(Winner) if own.ties else ("A", "B")

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        for request in requests:
            pair_of("decision", request)

    async def answer(self, request: JudgeRequest) -> JudgeOutput:
        task = pair_of("decision", request)
        swapped = task.reasoning_b, task.reasoning_a
        questions = _principles(has_case=bool(task.context or task.passages))
        first, given, answers, tokens = await self._ask(task, task.candidates, questions)
        second, also, _, more = await self._ask(task, swapped, {})
        means: Chances = {one: fmean((first[one], second[_SWAPPED[one]])) for one in self._options}
        winner, confidence = decide(means)
        worse = {"A": "b", "B": "a"}.get(winner)
        violated = [p.number for p in PRINCIPLES if worse and answers[f"{worse}{p.number}"] >= 0.5]
        verdict = PairwiseVerdict(winner=winner)
        judgment = Judgment(verdict=verdict, violated_principles=tuple(violated))
        turned = _SWAPPED[decide(second)[0]]
        usage = {"calls": 2, "input_tokens": tokens + more, "orders_disagree": int(decide(first)[0] != turned)}
        shown = Trajectory.without_ids("answer", judgment=judgment)
        return JudgeOutput(request, shown, verdict, confidence if given and also else None, usage)

    async def _ask(
        self, task: PairwiseTask, texts: tuple[str, ...], questions: Mapping[str, Any]
    ) -> tuple[Chances, bool, dict[str, float], int]:
        """The probabilities of the choice between two texts, whether the server gave them, those of yes by question,
        and the tokens that it read."""
        asked = {"better": self._choice(), **questions}
        case = "\n\n".join(passage.text for passage in task.passages) or task.context
        about = {name: text for name, text in (("case", case), ("decision", task.decision)) if text}
        state = {**about, "reasoning_a": texts[0], "reasoning_b": texts[1]}

        def read(reply: Any) -> tuple[Chances, bool, dict[str, float], int]:
            answers = reply["answers"]
            chances, given = chances_of(answers["better"], self._options)
            yes = {name: probability(answers[name]["noul"]) for name in questions}
            return chances, given, yes, int((reply.get("usage") or {}).get("input_tokens") or 0)

        return await self.post({"state": state, "questions": asked}, read)

    def _choice(self) -> dict[str, Any]:
        about = {"A": "reasoning_a is better", "B": "reasoning_b is better", "tie": "both are equally good"}
        return {
            "type": "choice",
            "instructions": "Which of the two reasonings is better?",
            "criteria": {option: about[option] for option in self._options},
        }


def _principles(*, has_case: bool) -> dict[str, Any]:
    texts = {p.number: f"{p.name}: {p.definition if has_case else p.without_case or p.definition}" for p in PRINCIPLES}
    return {
        f"{side}{number}": {"type": "noul", "instructions": f"Does reasoning_{side} violate this principle? {text}"}
        for side in "ab"
        for number, text in texts.items()
    }


def _make(build: JudgeBuild) -> Judge:
    if not build.backend.startswith(("http:", "https:")):
        raise BadJudge(f"decision@{build.backend}: write decision@URL#MODEL, the address of a server of {PATH}")
    return DecisionJudge(build)


JUDGES.register("decision")(
    JudgeKind(
        "the likelier choice of a decision model, in both orders; URL#MODEL, a server of v1/systemone",
        _make,
        served=_make,
    )
)
