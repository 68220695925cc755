"""Parses and checks one turn of a rationale by a teacher.

    <think>…</think> once or more, then <search>…</search> or <answer>…</answer>

A model learns the form from it, so no text is allowed outside the tags, no tag inside them, no quotation of text that
was not shown and no hint that the outcome was known; every violated principle must be named, and a conclusion that only
the case can settle quotes it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judge_r1.core.principles import by_number
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.parsing import Rejected, parse_strict
from judge_r1.episode.reward import score
from judge_r1.episode.tags import TAG

_BLOCK = re.compile(r"\s*<(think|search|answer)>(.*?)</\1>", re.DOTALL)
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")
_GAP = re.compile(r"\.\.\.|…|\[[^\]]*\]")
_QUOTED_WORDS = 4
"""Shorter quotations are not checked: they may be mentions of a word."""
_EVIDENCE_WORDS = 3
"""The least words of the case that a conclusion about it quotes."""
_BY_CASE = frozenset({2, 4})
"""The principles of which only the case can say whether they are violated."""
_GIVEAWAY = re.compile(
    r"\b(?:gold (?:judge?ment|label|answer)|answer key|(?:was|were|been) (?:told|informed|given the (?:outcome|answer))"
    r"|known (?:outcome|verdict)|outcome (?:is|was) known|already know|as (?:i was )?(?:instructed|requested))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RejectedTurn:
    """Why a turn is rejected: `reason` for the counts, `detail` for the teacher."""

    reason: str
    detail: str


@dataclass(frozen=True)
class ParsedTurn:
    """A valid turn up to its action. `ran_on` tells whether text after the action was dropped, as in sampling."""

    text: str
    query: str | None
    ran_on: bool


def read_turn(
    text: str,
    pair: ReasoningPair,
    *,
    may_search: bool,
    may_answer: bool,
    thoughts: Sequence[str] = (),
    shown: Sequence[str] = (),
    evidence: Sequence[str] = (),
) -> ParsedTurn | RejectedTurn:
    """The turn, or why it is rejected. `thoughts` are those of earlier turns; `shown` is what the judge has seen, and
    `evidence` what it has seen of the case."""
    blocks, end = _blocks(text)
    rest = text[end:]
    if not blocks or blocks[-1][0] == "think":
        if rest.strip():
            return RejectedTurn(
                "text outside the tags", f'"{_start(rest)}" stands outside of <think>, <search> and <answer>.'
            )
        return RejectedTurn("no action", "it ends with neither a search nor an answer.")
    kind, content = blocks[-1]
    new = [thought for _, thought in blocks[:-1]]
    if not new or any(not thought.strip() for thought in new):
        return RejectedTurn("no thought", "a thought is missing or empty.")
    if any(TAG.search(inside) for _, inside in blocks):
        return RejectedTurn("a tag inside a tag", "a tag stands inside of a thought, a search or an answer.")
    if found := next((match for thought in new for match in _GIVEAWAY.finditer(thought)), None):
        return RejectedTurn("giveaway", f'"{found[0]}" tells that the outcome was known beforehand.')
    if unseen := _unseen([quote for thought in new for quote in _quotes(thought)], shown):
        return RejectedTurn(
            "quotation of nothing shown", f'"{_start(unseen)}" was shown nowhere, and yet it is quoted.'
        )
    written = ParsedTurn(text[:end].strip(), content.strip() if kind == "search" else None, bool(rest.strip()))
    if kind == "search":
        if not may_search:
            return RejectedTurn("search past the budget", "there is no search left: it must end with the answer.")
        return written if content.strip() else RejectedTurn("empty search", "the search is empty.")
    if not may_answer:
        return RejectedTurn("no search", "it answers before it has looked anything up: it must end with a search.")
    return _judged(content, pair, [*thoughts, *new], evidence) or written


def thoughts_of(text: str) -> list[str]:
    return [content for kind, content in _blocks(text)[0] if kind == "think"]


def _blocks(text: str) -> tuple[list[tuple[str, str]], int]:
    """The blocks up to the first action, and the offset of their end."""
    blocks: list[tuple[str, str]] = []
    end = 0
    while match := _BLOCK.match(text, end):
        blocks.append((match[1], match[2]))
        end = match.end()
        if match[1] != "think":
            break
    return blocks, end


def _judged(content: str, pair: ReasoningPair, thoughts: Sequence[str], evidence: Sequence[str]) -> RejectedTurn | None:
    judgment = parse_strict(content)
    if isinstance(judgment, Rejected):
        return RejectedTurn(
            f"answer: {judgment.reason}", f"the answer is not as the instructions say ({judgment.detail})."
        )
    if judgment.explanation is not None:
        return RejectedTurn("answer: unknown_key", "the answer has exactly two keys.")
    if score(judgment, pair)["r"] != 1.0:
        return RejectedTurn("another judgment", "the answer is not the outcome that you know.")
    for number in pair.violated:
        name = by_number(number).name
        if not any(re.search(rf"\b{re.escape(name)}\b", thought, re.IGNORECASE) for thought in thoughts):
            return RejectedTurn(
                "a principle is not named", f"no thought calls principle {number}, {name}, by its name."
            )
    quotes = [quote for thought in thoughts for quote in _quotes(thought, _EVIDENCE_WORDS)]
    if evidence and _BY_CASE & set(pair.violated) and not any(_unseen([quote], evidence) is None for quote in quotes):
        return RejectedTurn(
            "no quotation of the case", "no thought quotes the words of the case or a passage that settle the matter."
        )
    return None


def _quotes(thought: str, least: int = _QUOTED_WORDS) -> list[str]:
    """The parts of quotations, between gaps and insertions, of at least so many words."""
    pieces = [piece for quote in _QUOTED.findall(thought) for piece in _GAP.split(quote)]
    return [piece for piece in pieces if len(piece.split()) >= least]


def _unseen(quotes: Sequence[str], shown: Sequence[str]) -> str | None:
    """The first quotation that is in no text shown."""
    texts = [_plain(text) for text in shown] if quotes else []
    return next((quote for quote in quotes if not any(_plain(quote) in text for text in texts)), None)


def _plain(text: str) -> str:
    """The words and numbers of a text, so that punctuation does not matter."""
    return " " + " ".join(re.findall(r"\w+", text.lower())) + " "


def _start(text: str) -> str:
    words = text.split()
    return " ".join(words[:8]) + (" …" if len(words) > 8 else "")
