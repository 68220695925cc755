"""The four tags of an episode, and how text that is not ours is kept from writing them.

`<think>`, `<search>` and `<answer>` belong to the policy, `<information>` to the environment. In inserted text (cases,
reasonings, passages) the angle brackets of these tags, and of nothing else, are replaced by look-alikes of the same
length: offsets stay, "p < 0.05" stays, and `restore` undoes it.
"""

import re

NAMES = ("think", "search", "information", "answer")
TAG = re.compile(rf"(</?(?:{'|'.join(NAMES)})>)")
"""Matches one tag; `TAG.split` keeps the tags between the texts they part."""
_NEUTRAL = re.compile(rf"‹(/?(?:{'|'.join(NAMES)}))›")

STOP_STRINGS = ("</search>", "</answer>")
"""Where generation stops; the token that completes one of them is kept whole."""


def escape_tags(text: str) -> str:
    """`text` with the brackets of our tags replaced, one character for one."""
    return TAG.sub(lambda match: f"‹{match[1][1:-1]}›", text)


def unescape_tags(text: str) -> str:
    """The inverse of `neutralise` for every text that held no neutralised tag before."""
    return _NEUTRAL.sub(r"<\1>", text)
