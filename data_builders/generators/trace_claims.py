"""What can be claimed about a trace: statements that an event proves, each with a false value in place of a true one.

A value stands in quotes or backquotes. A false one is of the same kind and length, so only the trace tells which is
true. Statements of P2 contradict an event, or what the events show of the agent's conduct (`trace_conduct`); those of
P4 name what no event holds.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from data_builders.perturb.trace_conduct import MAX_COMMAND, PATH, Claim, Command, commands, conduct
from judge_r1.traces.trace import EventSpan

_NUMBER = re.compile(r"\d+")
_MAX_LINE, _MIN_LINE = MAX_COMMAND, 8


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
