"""Second opinions on built pairs: another teacher sees both reasonings without labels and says which is worse, and why.

Their agreement by principle measures the quality of the first teacher's labels. A build keeps the pairs whose label the
verifier confirms, or all of them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from data_builders.placement import set_name
from data_builders.prompts import shared_beginning
from data_builders.prompts.pair_prompts import OWN_PROMPTS, PairPrompts
from data_builders.teachers import Teacher, TeacherRequest, ask_all
from judge_r1.core.principles import NUMBERS
from judge_r1.core.record_base import NonEmpty, PrincipleNumber, Record
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.verdicts import Preference
from judge_r1.episode.answer_form import ModelWriter
from judge_r1.episode.answer_text import answer_text

MAX_TOKENS = 4000
"""Leaves room for thoughts; the answer itself has three lines."""
NOT_CONFIRMED, NO_OPINION = "the verifier does not confirm the label", "the verifier gave no readable answer"
_WHY_TOKENS = 100

_MARGIN = r"^(?:[^\S\n]|[*_#])*"
"""The start of a line. It ends at the line feed, or many empty lines would take quadratic time."""
_WORSE = re.compile(rf"{_MARGIN}Worse[*_]*\s*:[\s*_]*(?:Reasoning\s+)?(?P<side>[AB]|neither)\b[\s*_.]*$", re.I | re.M)
_VIOLATED = re.compile(
    rf"{_MARGIN}Violated Principles?[*_]*\s*:[\s*_]*\[\s*(?P<numbers>P?[1-6](?:\s*,\s*P?[1-6])*)\s*\]", re.I | re.M
)
_WHY = re.compile(rf"{_MARGIN}Why[*_]*\s*:[ \t*_]*(?P<why>\S.*)$", re.I | re.M)


class Opinion(Record):
    """A verifier's opinion on one pair. `worse` is None if it finds `neither` worse, the answer cannot be parsed or the
    request was rejected.

    `worse` and `shown_first` are sides of the pair in its file. The verifier saw the side `shown_first` as A, and `why`
    has its words.
    """

    pair_id: NonEmpty
    verifier: NonEmpty
    worse: Preference | None
    violated: tuple[PrincipleNumber, ...] = ()
    why: str | None = None
    shown_first: Preference = "A"
    neither: bool = False

    def swapped(self) -> "Opinion":
        """The opinion after the sides of its pair were swapped."""
        other: dict[Preference | None, Preference | None] = {"A": "B", "B": "A", None: None}
        return self.model_copy(update={"worse": other[self.worse], "shown_first": other[self.shown_first]})

    def agrees(self, pair: ReasoningPair) -> bool:
        """Whether it finds the flawed reasoning worse."""
        return self.worse is not None and self.worse != pair.preferred

    @property
    def unreadable(self) -> bool:
        """Whether it says nothing about the pair."""
        return self.worse is None and not self.neither

    def confirms(self, pair: ReasoningPair) -> bool:
        """Whether it finds the flawed reasoning worse, and in it the violated principles and no other."""
        return self.agrees(pair) and self.violated == pair.violated


class Agreement:
    """Counts agreement by set: `P1` … `P6` for single pairs, `multi` for the others."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, pair: ReasoningPair, opinion: Opinion) -> None:
        counts = self._counts[set_name(pair)]
        counts["pairs"] += 1
        counts["worse"] += opinion.agrees(pair)
        counts["principles"] += opinion.confirms(pair)
        counts["neither"] += opinion.neither
        counts["unreadable"] += opinion.unreadable

    def as_dict(self) -> dict[str, Any]:
        """Shares of agreement by set and over all pairs."""
        shares = {name: _shares(self._counts[name]) for name in sorted(self._counts)}
        return {**shares, "all": _shares(sum(self._counts.values(), Counter[str]()))} if shares else {}


def _shares(counts: Counter[str]) -> dict[str, float]:
    pairs = counts["pairs"]
    shares = {f"{name}_agreed": round(counts[name] / pairs, 4) for name in ("worse", "principles")}
    return {"pairs": pairs, **shares, "neither": counts["neither"], "unreadable": counts["unreadable"]}


async def verify(
    case: Case, pairs: Sequence[ReasoningPair], verifier: Teacher, prompts: PairPrompts = OWN_PROMPTS
) -> list[Opinion]:
    """An opinion on each pair of a case, in order. Raises: the verifier's errors except TeacherRefused."""
    requests = []
    for pair in pairs:
        system, user = prompts.verifier(case, pair)
        # Pairs of a case share its reference, too, where it stands first.
        shared = "reasoning_a" if pair.reasoning_a == case.reference else "decision"
        texts = {"system": system, "user": user, "prefix": shared_beginning(user, shared)}
        requests.append(TeacherRequest(**texts, max_tokens=MAX_TOKENS, temperature=0, form=_write_opinion))
    replies = await ask_all(verifier, requests)
    return [
        Opinion(pair_id=pair.pair_id, verifier=verifier.name, worse=None)
        if reply is None
        else read_opinion(pair.pair_id, verifier.name, reply.answer)
        for pair, reply in zip(pairs, replies, strict=True)
    ]


async def _write_opinion(writer: ModelWriter) -> str:
    """Write an answer in the form of the prompt, with a local model."""
    writer.add("Worse: ")
    worse = await writer.choose(["A", "B", "neither"])
    if worse == "neither":
        return "Worse: neither"
    writer.add("Violated Principles: [")
    lists = [", ".join(map(str, chosen)) for size in (1, 2, 3) for chosen in combinations(NUMBERS, size)]
    violated = await writer.choose(lists, end="]\n")
    writer.add("Why: ")
    why, _ = await writer.write(_WHY_TOKENS)
    return f"Worse: {worse}\nViolated Principles: [{violated}]\nWhy: {answer_text(why)}"


def read_opinion(pair_id: str, verifier: str, text: str) -> Opinion:
    """Parse an answer. It must have the lines `Worse:` and, unless it says neither, `Violated Principles:` once."""
    worse, violated = list(_WORSE.finditer(text)), list(_VIOLATED.finditer(text))
    why = _WHY.search(text)
    reason = why["why"].strip() if why else None
    if len(worse) == 1 and worse[0]["side"].lower() == "neither":
        return Opinion(pair_id=pair_id, verifier=verifier, worse=None, neither=True, why=reason)
    if len(worse) != 1 or len(violated) != 1:
        return Opinion(pair_id=pair_id, verifier=verifier, worse=None)
    numbers = {int(n.strip().lstrip("Pp")) for n in violated[0]["numbers"].split(",")}
    return Opinion(
        pair_id=pair_id,
        verifier=verifier,
        worse="A" if worse[0]["side"].upper() == "A" else "B",
        violated=tuple(sorted(numbers)),
        why=reason,
    )
