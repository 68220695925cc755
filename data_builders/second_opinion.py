"""A second opinion on built pairs: another teacher sees both reasonings blind and says which is worse, and why.

It removes nothing. How often it agrees, by principle, says how far the labels of the first teacher can be trusted.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from data_builders.prompts import verifier_prompt
from data_builders.teachers import Teacher, TeacherRefused, TeacherReply, TeacherRequest
from judge_r1.core.principles import NUMBERS, by_number
from judge_r1.core.records import Case, NonEmpty, PrincipleNumber, ReasoningPair, Record

MAX_TOKENS = 4000
"""Room to think; the answer itself has three lines."""

_WORSE = re.compile(r"^[\s*_#]*Worse[*_]*\s*:[\s*_]*(?:Reasoning\s+)?(?P<side>[AB])\b[\s*_.]*$", re.I | re.M)
_VIOLATED = re.compile(
    r"^[\s*_#]*Violated Principles?[*_]*\s*:[\s*_]*\[\s*(?P<numbers>P?[1-6](?:\s*,\s*P?[1-6])*)\s*\]", re.I | re.M
)
_WHY = re.compile(r"^[\s*_#]*Why[*_]*\s*:[ \t*_]*(?P<why>\S.*)$", re.I | re.M)


class Opinion(Record):
    """A verifier's view of one pair; `worse` is None where its answer cannot be read or it refused."""

    pair_id: NonEmpty
    verifier: NonEmpty
    worse: Literal["A", "B"] | None
    violated: tuple[PrincipleNumber, ...] = ()
    why: str | None = None

    def agrees(self, pair: ReasoningPair) -> bool:
        """On which of the two is worse."""
        return self.worse is not None and self.worse != pair.preferred

    def agrees_why(self, pair: ReasoningPair) -> bool:
        """On that, and on the principles that it breaks, all of them and no other."""
        return self.agrees(pair) and self.violated == pair.violated


@dataclass
class Agreement:
    """Counts by set: `P1` … `P6` for single pairs, `multi` for the others."""

    pairs: Counter[str] = field(default_factory=Counter)
    worse: Counter[str] = field(default_factory=Counter)
    principles: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)

    def add(self, pair: ReasoningPair, opinion: Opinion) -> None:
        name = by_number(pair.violated[0]).code if pair.kind == "single" else "multi"
        self.pairs[name] += 1
        self.worse[name] += opinion.agrees(pair)
        self.principles[name] += opinion.agrees_why(pair)
        self.unread[name] += opinion.worse is None

    def add_all(self, pairs: Sequence[ReasoningPair], opinions: Sequence[Opinion]) -> None:
        """Those of a case; without a verifier there are no opinions."""
        for pair, opinion in zip(pairs, opinions, strict=bool(opinions)):
            self.add(pair, opinion)

    def as_dict(self) -> dict[str, Any]:
        """Shares by set and over all pairs."""
        shares = {name: self._share([name]) for name in [*(by_number(n).code for n in NUMBERS), "multi"]}
        return {name: share for name, share in {**shares, "all": self._share(list(self.pairs))}.items() if share}

    def _share(self, names: Sequence[str]) -> dict[str, float]:
        pairs, worse, principles, unread = (
            sum(counter[name] for name in names) for counter in (self.pairs, self.worse, self.principles, self.unread)
        )
        if not pairs:
            return {}
        shares = {"worse_agreed": round(worse / pairs, 4), "principles_agreed": round(principles / pairs, 4)}
        return {"pairs": pairs, **shares, "unreadable": unread}


async def verify(case: Case, pairs: Sequence[ReasoningPair], verifier: Teacher) -> list[Opinion]:
    """An opinion for each pair of a case, in order. Errors: those of `verifier.ask`, but for asks that it refuses."""
    asks = []
    for pair in pairs:
        system, user = verifier_prompt(case, pair)
        asks.append(TeacherRequest(system=system, user=user, max_tokens=MAX_TOKENS, temperature=0))
    answers = await asyncio.gather(*map(verifier.ask, asks), return_exceptions=True)
    opinions = []
    for pair, answer in zip(pairs, answers, strict=True):
        if isinstance(answer, TeacherReply):
            opinions.append(read_opinion(pair.pair_id, verifier.name, answer.text))
        elif isinstance(answer, TeacherRefused):
            opinions.append(Opinion(pair_id=pair.pair_id, verifier=verifier.name, worse=None))
        else:
            raise answer
    return opinions


def read_opinion(pair_id: str, verifier: str, text: str) -> Opinion:
    """Each of the lines `Worse:` and `Violated Principles:` exactly once, or the answer says nothing."""
    worse, violated = list(_WORSE.finditer(text)), list(_VIOLATED.finditer(text))
    if len(worse) != 1 or len(violated) != 1:
        return Opinion(pair_id=pair_id, verifier=verifier, worse=None)
    numbers = {int(n.strip().lstrip("Pp")) for n in violated[0]["numbers"].split(",")}
    why = _WHY.search(text)
    return Opinion(
        pair_id=pair_id,
        verifier=verifier,
        worse="A" if worse[0]["side"].upper() == "A" else "B",
        violated=tuple(sorted(numbers)),
        why=why["why"].strip() if why else None,
    )
