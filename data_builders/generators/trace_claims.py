"""What can be claimed about a trace: statements that an event proves, each with a false value in place of a true one.

A value stands in quotes or backquotes. A false one is of the same kind and length, so only the trace tells which is
true. Statements of P2 contradict an event, or what the events show of the agent's conduct (`trace_conduct`); those of
P4 name what no event holds.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from data_builders.perturb.trace_conduct import MAX_COMMAND, Command, commands, conduct
from judge_r1.core.records import Span
from judge_r1.traces.trace import EventSpan

_PATH = re.compile(r"(?<![\w./-])[\w.-]+(?:/[\w.-]+)+\.\w+\b")
_NAME = re.compile(r"[A-Za-z]\w*\d\w*")
_NUMBER = re.compile(r"\d+")
_MAX_LINE, _MIN_LINE = MAX_COMMAND, 8


@dataclass(frozen=True)
class Claim:
    """A statement: `text` before and after its value, the true and the false one. `at` is the event that proves it.
    `kind` says what it is about, `operator` what is wrong with the false value: claims are chosen by their kind, since
    the operator depends on which value is true."""

    kind: str
    operator: str
    principle: int
    text: tuple[str, str]
    true: str
    false: str
    at: EventSpan
    by_events: bool = False
    """Whether the events show what is true (`trace_conduct`), and not their words."""

    def tells(self, other: "Claim") -> bool:
        """Whether one of two claims says something about the value of the other: both are about one result, command or
        file of conduct, or one has a name that the other one may change. A name that occurs once would say that it is
        the changed one."""
        if self.by_events and other.by_events:
            return self.at == other.at or not self._quoted.isdisjoint(other._quoted)
        return self.at == other.at or not self.names.isdisjoint(other.names)

    @property
    def _quoted(self) -> set[str]:
        return set(re.findall("`([^`]+)`", self.text[0]))

    @property
    def names(self) -> set[str]:
        """The files and other names with a number in the true and in the false statement."""
        text = f"{self.line(self.true)} {self.false}"
        return set(_PATH.findall(text)) | {name.removeprefix("test_") for name in _NAME.findall(text)}

    def line(self, value: str) -> str:
        """The statement with this value."""
        return value.join(self.text)

    @property
    def spans(self) -> tuple[Span, ...]:
        """What a false value contradicts."""
        return (Span(start=self.at.start, end=self.at.end),) if self.principle == 2 else ()


def claims(events: Sequence[EventSpan], rng: Random) -> Iterator[Claim]:
    """The claims that the trace offers, in random order. Whether a value is false is not checked."""
    calls = list(commands(events))
    for fact in conduct(events):
        yield Claim(fact.kind, fact.operator, 2, fact.text, fact.true, fact.false, fact.at, by_events=True)
    paths = sorted({path for call in calls for path in _PATH.findall(call.command)})
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
        yield Claim("lines", "contradicted_result", 2, text, number, str(other), call.result)
        return
    quotable = [line for line in lines if _MIN_LINE <= len(line) <= _MAX_LINE and _NUMBER.search(line)]
    if quotable:
        line = rng.choice(quotable)
        at = rng.choice(list(_NUMBER.finditer(line)))
        false = line[: at.start()] + other_number(at[0], rng) + line[at.end() :]
        yield Claim(
            "quote", "wrong_quote", 2, (f"In {call.which}, the output has the line “", "”."), line, false, call.result
        )


def _about_command(call: Command, paths: Sequence[str], rng: Random) -> Iterator[Claim]:
    """A command that was run, and a file that was used."""
    if not (found := _PATH.findall(call.command)) or call.run > 1:
        return
    path = rng.choice(found)
    if others := [one for one in paths if one != path and one.partition("/")[0] == path.partition("/")[0]]:
        false = call.command.replace(path, rng.choice(others))
        yield Claim(
            "command",
            "unrun_command",
            4,
            ("Among the commands that were run is `", "`."),
            call.command,
            false,
            call.call,
        )
    stem = _NUMBER.sub(lambda number: other_number(number[0], rng), path)
    if stem != path and path.rpartition("/")[2] not in stem:
        yield Claim("file", "invented_file", 4, ("The file `", "` was used in a command."), path, stem, call.call)


def other_number(number: str, rng: Random) -> str:
    """A number with as many digits as `number`, other than it, that does not begin with 0."""
    first = rng.choice([digit for digit in "123456789" if digit != number[0]])
    return first + "".join(rng.choice("0123456789") for _ in number[1:])
