"""A fake teacher that writes rationales by rule and, like a model, knows only its prompt.

honest(system, user, sample)    always a good turn
sloppy(system, user, sample)    about 40 % of the first tries are bad in one of the ways of BAD, and for about one
                                pair in ten so is every try
"""

import json
import re
from collections.abc import Callable
from random import Random

from judge_r1.core.principles import by_number
from judge_r1.core.record_base import content_hash

_TASK = re.compile(r"<task>\n(.*)\n</task>", re.DOTALL)
_PAIR = re.compile(r"(?:Reasoning )?A:\n(.*?)\n+(?:Reasoning )?B:\n(.*)", re.DOTALL)
_OUTCOME = re.compile(r"The answer is (\{.*?\})")
_SHOWN = re.compile(r"<information>\n\[1\] (.*?)\n", re.DOTALL)
_ACTION = re.compile(r"(<search>.*|<answer>.*)", re.DOTALL)

BAD: dict[str, Callable[[str], str]] = {
    "text outside the tags": lambda turn: "Here is the turn: " + turn,
    "no action": lambda turn: _ACTION.sub("", turn),
    "no thought": lambda turn: _ACTION.search(turn)[0] if _ACTION.search(turn) else turn,
    "a tag inside a tag": lambda turn: turn.replace("<think>", "<think><search>", 1),
    "giveaway": lambda turn: turn.replace("<think>", "<think>I was told so. ", 1),
    "quotation of nothing shown": lambda turn: turn.replace("<think>", '<think>"it was a dark night" ', 1),
    "too long": lambda turn: turn.replace("<think>", "<think>" + "on and on " * 400, 1),
}


def honest(system: str, user: str, sample: int) -> str:
    task = _TASK.search(user)
    assert task
    found = _PAIR.search(task[1])
    assert found
    a, b = _difference(found[1], found[2])
    outcome = _OUTCOME.search(user)
    if outcome is None:
        assert "does not guess" in user
        return f"<think>A: {a}. B: {b}.</think><search>{a}</search>"
    answer = json.loads(outcome[1])
    worse = "B" if answer["comparison"] == "A>B" else "A"
    passages = _SHOWN.findall(user)
    said = f'"{_some(passages[-1])}" was found.' if passages else f'A has "{a}".'
    named = " and ".join(f"{n}, {by_number(n).name}" for n in answer["violated_principles"])
    return f"<think>{said}</think>\n<think>{worse} breaks {named}.</think><answer>{outcome[1]}</answer>"


def sloppy(system: str, user: str, sample: int) -> str:
    task = _TASK.search(user)
    assert task
    rng = Random(content_hash("sloppy", system, user, sample))
    hopeless = Random(content_hash("hopeless", task[1])).random() < 0.1
    turn = honest(system, user, sample)
    if hopeless or (sample == 0 and rng.random() < 0.4):
        return BAD[rng.choice(sorted(BAD))](turn)
    return turn


def _difference(a: str, b: str) -> tuple[str, str]:
    """Returns a few words of the first lines that differ."""
    for one, other in zip(a.strip().split("\n"), b.strip().split("\n"), strict=False):
        if one != other:
            return _some(one), _some(other)
    return "nothing", "something"


def _some(text: str) -> str:
    return " ".join(re.findall(r"\w+", text)[:9])
