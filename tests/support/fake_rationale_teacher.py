"""A fake teacher that writes rationales by rule and, like a model, knows only its prompt.

honest(system, user, sample)    always a good turn; its check always says yes
careful(system, user, sample)   the same, and its check says yes if a passage settles the first difference of A and B
sloppy(system, user, sample)    about 40 % of the first tries are bad in one of the ways of BAD, and for about one
                                pair in ten so is every try
"""

import json
import re
from collections.abc import Callable
from random import Random

from data_builders.rationales.prose import settling_sentence
from judge_r1.core.principles import by_number
from judge_r1.core.record_base import content_hash

_TASK = re.compile(r"<task>\n(.*)\n</task>", re.DOTALL)
_PAIR = re.compile(r"(?:Reasoning )?A:\n(.*?)\n+(?:Reasoning )?B:\n(.*)", re.DOTALL)
_OUTCOME = re.compile(r"The answer is (\{.*?\})")
_SHOWN = re.compile(r"<information>\n\[1\] (.*?)\n", re.DOTALL)
_CASE = re.compile(r"(?:Case file:\n|case: )(.*?)\n(?:Reasoning )?A:", re.DOTALL)
_CHECK = "Follows: yes or no"
_BLAMED = re.compile(r"<think>([AB]) breaks (\d), ")
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
    if _CHECK in user:
        return "Follows: yes\nWhy: the words stand there."
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
    case = _CASE.search(task[1])
    said = f'"{_some(passages[-1])}" was found.' if passages else f'A has "{a}".'
    if not passages and case:
        said += f' The case has "{_some(case[1])}".'
    named = " and ".join(f"{n}, {by_number(n).name}" for n in answer["violated_principles"])
    return f"<think>{said}</think>\n<think>{worse} breaks {named}.</think><answer>{outcome[1]}</answer>"


def careful(system: str, user: str, sample: int) -> str:
    if _CHECK not in user:
        return honest(system, user, sample)
    task, blamed = _TASK.search(user), _BLAMED.search(user)
    assert task
    assert blamed
    found = _PAIR.search(task[1])
    assert found
    [(a, b), *_] = [
        both for both in zip(found[1].split("\n"), found[2].split("\n"), strict=False) if both[0] != both[1]
    ]
    true, false = (a, b) if blamed[1] == "B" else (b, a)
    settled = settling_sentence(int(blamed[2]), true, false, re.findall(r"^\[\d\] (.*)$", user, re.MULTILINE))
    return f"Follows: {'yes' if settled else 'no'}\nWhy: the passage {'has' if settled else 'lacks'} it."


def sloppy(system: str, user: str, sample: int) -> str:
    if _CHECK in user:
        return honest(system, user, sample)
    task = _TASK.search(user)
    assert task
    rng = Random(content_hash("sloppy", system, user, sample))
    hopeless = Random(content_hash("hopeless", task[1])).random() < 0.1
    turn = honest(system, user, sample)
    if hopeless or (sample == 0 and rng.random() < 0.4):
        return BAD[rng.choice(sorted(BAD))](turn)
    return turn


def _difference(a: str, b: str) -> tuple[str, str]:
    """Returns a few words of the first lines that differ, from shortly before the difference."""
    for one, other in zip(a.strip().split("\n"), b.strip().split("\n"), strict=False):
        if one != other:
            same = next((n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), 60)
            start = one.rfind(" ", 0, max(0, same - 60)) + 1
            return _some(one[start:], 24), _some(other[start:], 24)
    return "nothing", "something"


def _some(text: str, most: int = 9) -> str:
    return " ".join(re.findall(r"\w+", text)[:most])
