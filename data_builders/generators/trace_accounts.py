"""Accounts of people's own agents' traces, with planted flaws.

A claim is a statement that an event proves, with a false value in place of a true one. A value stands in quotes or
backquotes. A false one is of the same kind and length, so only the trace tells which is true. Claims of P2 contradict
an event, or what the events show of the agent's conduct (`trace_conduct`); those of P4 name what no event holds.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import Any

from data_builders.generators import register
from data_builders.generators.base import BuildPlan, Generator
from data_builders.generators.pairs import PairGroup
from data_builders.pair_dataset import PairDataset
from data_builders.perturb.pair_checks import RULES, trace_refutes
from data_builders.perturb.rules.engine import USED_UP, Forms
from data_builders.perturb.trace_conduct import MAX_COMMAND, PATH, Claim, Command, commands, conduct
from data_builders.placement import BalancedPlacement
from data_builders.teachers import Teacher
from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks
from judge_r1.core.record_base import Record, content_hash
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.core.text_check import counted
from judge_r1.traces import Unread, read_events
from judge_r1.traces.trace import EventSpan, trace_events, trace_text

DECISION = "What the agent did, and what its commands showed"
CLAIMS = 8
"""Claims of an account."""
_NUMBER = re.compile(r"\d+")
_MAX_LINE, _MIN_LINE = MAX_COMMAND, 8


@register
class Traces(Generator[tuple[str, str]]):
    """accounts of the agents' traces in `path`, with planted flaws"""

    name = "traces"
    dataset = PairDataset()

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        if plan.path is None:
            raise JudgeError("traces needs path=PATH, a trace or a folder of traces")
        self._path = plan.path
        self._placement, self._forms = BalancedPlacement(), Forms()
        self._unread: dict[str, dict[str, int]] = {}
        self._notes: set[str] = set()

    def items(self) -> Iterator[tuple[str, str]]:
        """The source and the text of each trace. Texts that no event shows are left out, named and counted."""
        for file in _files(self._path)[: self.plan.limit]:
            unread = Unread(allowed=True)
            yield f"traces/{file.name}", trace_text(read_events(file, unread=unread))
            for note in unread.notes if file.name not in self._notes else ():
                print(f"note: {note}", file=sys.stderr)
            self._notes.add(file.name)
            if unread.count and file.name not in self._unread:  # items are read again by a resumed build
                self._unread[file.name] = dict(sorted(unread.keys.items()))
                keys = ", ".join(sorted(unread.keys))
                print(f"note: {file}: {counted(unread.count, 'text')} in no event, left out: {keys}", file=sys.stderr)

    def details(self) -> dict[str, Any]:
        return {"unread_texts": self._unread} if self._unread else {}

    def generate(self, item: tuple[str, str]) -> PairGroup | None:
        source, context = item
        rng = Random(content_hash("account", self.plan.seed, context))
        found = account(_checked(claims(trace_events(context), rng), context), rng)
        if len({claim.principle for claim in found}) < 2:
            self.skipped["the trace offers too few claims"] += 1
            return None
        case = Case.of(
            domain="agent", context=context, decision=DECISION, reference=written(found), source=source,
            license="unknown",
        )  # fmt: skip
        abstained: Counter[str] = Counter()
        pairs = [
            _pair(case, found, flawed, self.plan.seed, variant)
            for flaws in self._plans(found, rng, abstained)
            for variant, flawed in enumerate(flaws, 1)
        ]
        return PairGroup([case, *pairs], abstained) if pairs else None

    def _plans(self, found: Sequence[Claim], rng: Random, abstained: Counter[str]) -> Iterator[list[list[Claim]]]:
        """The claims to falsify: one of P2 or P4 for single pairs, one of each for those with several."""
        of = {number: [claim for claim in found if claim.principle == number] for number in (2, 4)}
        plans = {f"P{number}": [[claim] for claim in of[number]] for number in of if "single" in self.plan.kinds}
        if "multi" in self.plan.kinds:
            plans["multi"] = [[one, other] for one in of[2] for other in of[4]]
        for name, every in plans.items():
            kind, chosen = "multi" if name == "multi" else "single", list[list[Claim]]()
            for flaws in rng.sample(every, len(every)):
                if len(chosen) < self.plan.variants and all(
                    self._forms.allows(kind, claim.principle, claim.false) for claim in flaws
                ):
                    chosen.append(flaws)
                    for claim in flaws:
                        self._forms.add(kind, claim.principle, claim.false)
            if missing := self.plan.variants - len(chosen):
                refused = min(missing, len(every) - len(chosen))
                abstained[f"{name}: {USED_UP}"] += refused
                abstained[f"{name}: the trace offers no other claim"] += missing - refused
            yield chosen

    def finalize(self, record: Record) -> Record:
        return self._placement.place(record) if isinstance(record, ReasoningPair) else record

    def add(self, group: PairGroup) -> None:
        self.abstained.update(group.abstained)

    def settings(self) -> dict[str, Any]:
        plan = self.plan
        return {
            **super().settings(),
            "path": plan.path_name,
            "limit": plan.limit,
            "options": plan.options,
            "variants": plan.variants,
            "kinds": list(plan.kinds),
        }


def _checked(found: Iterable[Claim], context: str) -> list[Claim]:
    """At most `CLAIMS` claims of each kind whose false value the trace refutes."""
    kept: dict[str, list[Claim]] = {}
    for claim in found:
        of_kind = kept.setdefault(claim.kind, [])
        refuted = claim.by_events or trace_refutes(context, claim.principle, claim.true, claim.false, claim.spans)
        if len(of_kind) < CLAIMS and refuted:
            of_kind.append(claim)
    return [claim for of_kind in kept.values() for claim in of_kind]


def account(found: Sequence[Claim], rng: Random) -> list[Claim]:
    """Up to `CLAIMS` claims in the order of the trace, none of which says something about another one.

    First one of P4, then up to half about the agent's conduct, then principles in turn, and of each its kinds in turn.
    """
    by_principle = {number: _in_turn(found, number, rng) for number in (2, 4)}
    conduct = [claim for claim in by_principle[2] if claim.by_events]
    others = chain(*zip_longest([claim for claim in by_principle[2] if not claim.by_events], by_principle[4]))
    # The claim of P4 that leaves most of the conduct to tell: few traces have many files.
    invented = sorted(by_principle[4], key=lambda claim: sum(claim.tells(other) for other in conduct))[:1]
    chosen: list[Claim] = []
    for order, most in ((invented, 1), (conduct, 1 + CLAIMS // 2), (filter(None, others), CLAIMS)):
        for claim in order:
            if len(chosen) < most and not any(claim.tells(other) for other in chosen):
                chosen.append(claim)
    return sorted(chosen, key=lambda claim: (claim.at.start, claim.text))


def _in_turn(found: Sequence[Claim], principle: int, rng: Random) -> list[Claim]:
    """The claims of a principle: one of each kind, then the second ones, and so on."""
    by_kind: dict[str, list[Claim]] = {}
    for claim in found:
        if claim.principle == principle:
            by_kind.setdefault(claim.kind, []).append(claim)
    kinds = rng.sample(sorted(by_kind), len(by_kind))
    return list(filter(None, chain(*zip_longest(*(by_kind[kind] for kind in kinds)))))


def written(found: Sequence[Claim], flawed: Sequence[Claim] = ()) -> str:
    """The account, with the false value of the claims that are `flawed`."""
    return "\n".join(
        f"{number}. {claim.line(claim.false if claim in flawed else claim.true)}"
        for number, claim in enumerate(found, 1)
    )


def _pair(case: Case, found: Sequence[Claim], flawed: Sequence[Claim], seed: int, variant: int) -> ReasoningPair:
    text, flaws, position = written(found, flawed), [], 0
    for number, claim in enumerate(found, 1):
        if claim in flawed:
            start = position + len(f"{number}. ") + len(claim.text[0])
            span = Span(start=start, end=start + len(claim.false))
            flaws.append(Flaw(principle=claim.principle, operator=claim.operator, span=span, context_spans=claim.spans))
        value = claim.false if claim in flawed else claim.true
        position += len(f"{number}. {claim.line(value)}\n")
    origin = Origin(teacher=RULES, seed=seed, flaws=tuple(flaws))
    return ReasoningPair.of(case, text, variant=variant, origin=origin, seed=seed)


def _files(path: Path) -> list[Path]:
    """The files of a folder of traces, in the order of their names, or one file. Raises: JudgeError without any."""
    files = [path] if path.is_file() else sorted(file for file in path.glob("*") if file.is_file())
    if not files:
        raise JudgeError(f"{lacks(path, 'file')}: give path=PATH, a trace or a folder of traces")
    return files


def claims(events: Sequence[EventSpan], rng: Random) -> Iterator[Claim]:
    """The claims that the trace offers, in random order. Whether a value is false is not checked."""
    calls = list(commands(events))
    yield from conduct(events)
    paths = sorted({path for call in calls for path in PATH.findall(call.command)})
    for call in rng.sample(calls, len(calls)):
        yield from _about_result(call, rng)
        yield from _about_command(call, paths, rng)


def _about_result(call: Command, rng: Random) -> Iterator[Claim]:
    """A line of the output, and the number of lines of a file."""
    if call.result is None or not call.which:
        return
    lines = [line.strip() for line in call.result.text.splitlines()]
    if counted := re.fullmatch(r"wc -l (\S+)", call.command):
        number = lines[0].split()[0] if lines and lines[0] else ""
        if not number.isdecimal():
            return
        other = int(number) + rng.choice([-1, 1]) * rng.randint(1, 9)
        text = (f"The file {counted[1]} has “", "” lines.")
        yield Claim("lines", "contradicted_result", text, number, str(other), call.result)
        return
    quotable = [line for line in lines if _MIN_LINE <= len(line) <= _MAX_LINE and _NUMBER.search(line)]
    if quotable:
        line = rng.choice(quotable)
        at = rng.choice(list(_NUMBER.finditer(line)))
        false = line[: at.start()] + other_number(at[0], rng) + line[at.end() :]
        text = (f"In {call.which}, the output has the line “", "”.")
        yield Claim("quote", "wrong_quote", text, line, false, call.result)


def _about_command(call: Command, paths: Sequence[str], rng: Random) -> Iterator[Claim]:
    """A command that was run, and a file that was used."""
    if not (found := PATH.findall(call.command)) or call.run > 1:
        return
    path = rng.choice(found)
    if others := [one for one in paths if one != path and one.partition("/")[0] == path.partition("/")[0]]:
        false = call.command.replace(path, rng.choice(others))
        text = ("Among the commands that were run is `", "`.")
        yield Claim("command", "unrun_command", text, call.command, false, call.call, principle=4)
    stem = _NUMBER.sub(lambda number: other_number(number[0], rng), path)
    if stem != path and path.rpartition("/")[2] not in stem:
        yield Claim("file", "invented_file", ("The file `", "` was used in a command."), path, stem, call.call, 4)


def other_number(number: str, rng: Random) -> str:
    """A number with as many digits as `number`, other than it, that does not begin with 0."""
    first = rng.choice([digit for digit in "123456789" if digit != number[0]])
    return first + "".join(rng.choice("0123456789") for _ in number[1:])
