"""Answer parsers: a strict one for training, a tolerant one for evaluation.

Both return a `Judgment`, or a `Rejected` with a named reason, so that failures can be counted by kind.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from reprlib import repr
from typing import Any, Literal, TypeGuard

from judge_r1.core.principles import NUMBERS, PRINCIPLES
from judge_r1.core.verdicts import Judgment, ScoresVerdict
from judge_r1.episode.json_objects import json_objects
from judge_r1.episode.readable_json import readable_objects
from judge_r1.episode.stated_verdict import spelled, stated_in_words, stated_verdict

_NAMES = re.compile("|".join(rf"({p.name.replace(' and ', ' (?:and|&) ')})" for p in PRINCIPLES), re.IGNORECASE)
_BREAK = re.compile(r"[,;/|\n&+]|\band\b", re.IGNORECASE)
_NAMED = re.compile(
    r"\W*(?:violated\W+)?(?:principles?\W*)?(?:no\W*)?p?\s*([1-6])(?:\.0)?(?:\W+p?\1)?\W*(?:[:(–—-](?!\s*\d).*)?",
    re.IGNORECASE | re.DOTALL,
)
"""One principle, with its name as a second number, and with what is said of it."""
_FIELDS = ("principle", "number", "id", "principle_number", "name")


def named_principles(value: Any) -> list[int]:
    """The principles in a field of an answer, such as `[2, "P4"]`, `"2. Factual Consistency"`, `"2, 4"` or
    `{"P2": true}`. Parts that name none, or two at once, are left out; None and the like name none."""
    return sorted(set(_numbers(value, 3)))


def _numbers(value: Any, depth: int) -> list[int]:
    if isinstance(value, str):
        numbered = _NAMES.sub(lambda match: f" {match.lastindex} ", value[:300])
        return [int(match[1]) for part in _BREAK.split(numbered) if (match := _NAMED.fullmatch(part))]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [int(value)] if value in NUMBERS else []
    if not depth:
        return []
    if isinstance(value, dict):
        own = [value[field] for field in _FIELDS if field in value]
        value = own[:1] or [key for key, stated in value.items() if stated not in (False, 0, None, "")]
    if isinstance(value, list | tuple):
        return [number for part in value[:100] for number in _numbers(part, depth - 1)]
    return []


Reason = Literal[
    "no_json",
    "not_an_object",
    "repeated_key",
    "missing_key",
    "unknown_key",
    "bad_comparison",
    "bad_principles",
    "bad_explanation",
    "bad_score",
    "bad_best",
    "not_two_lines",
    "bad_round",
    "bad_problem_type",
    "bad_verdict",
    "contradiction",
]
_LIST = re.compile(
    r"violated[ _]principles?[\"'*\s]*(?:(?::[\s*]*)?\[([^][]*)\]|:[ \t*]*([^\n\[\]]{1,200}))", re.IGNORECASE
)


@dataclass(frozen=True)
class Rejected:
    """The reason why a text is not a valid answer. `detail` quotes the invalid part."""

    reason: Reason
    detail: str


def parse_strict(text: str) -> Judgment | Rejected:
    """Parses exactly one JSON object, surrounded by nothing but white space (paper, Table 8).

    Its keys are `comparison` ("A>B" or "A<B"), `violated_principles` (distinct integers 1-6, may be empty) and
    optionally `explanation` (a string).
    """
    answer = json_object(text, "comparison", "violated_principles")
    if isinstance(answer, Rejected):
        return answer
    comparison, violated, explanation = answer["comparison"], answer["violated_principles"], answer.get("explanation")
    if comparison not in ("A>B", "A<B"):
        return Rejected("bad_comparison", repr(comparison))
    return _wrong_parts(answer) or _judgment(comparison, violated, explanation)


SCORES = range(1, 11)
"""The scores of one candidate, worst to best."""


def parse_score(text: str) -> Judgment | Rejected:
    """Parses the answer on one candidate alone: exactly one JSON object with `score` (an integer of `SCORES`),
    `violated_principles` (as in `parse_strict`) and optionally `explanation`."""
    answer = json_object(text, "score", "violated_principles")
    if isinstance(answer, Rejected):
        return answer
    if type(score := answer["score"]) is not int or score not in SCORES:
        return Rejected("bad_score", repr(score))
    if problem := _wrong_parts(answer):
        return problem
    named = tuple(sorted(answer["violated_principles"]))
    verdict = ScoresVerdict(scores=(float(score),))
    return Judgment(verdict=verdict, violated_principles=named, explanation=answer.get("explanation"))


def parse_best(text: str, count: int) -> Judgment | Rejected:
    """Parses the answer on `count` candidates: exactly one JSON object with `best`, the number of one of them from 1,
    and optionally `explanation`. The verdict gives that one the score 1 and the others 0."""
    answer = json_object(text, "best")
    if isinstance(answer, Rejected):
        return answer
    if type(best := answer["best"]) is not int or not 1 <= best <= count:
        return Rejected("bad_best", repr(best))
    if problem := _wrong_parts({"violated_principles": [], **answer}):
        return problem
    scores = tuple(float(number == best) for number in range(1, count + 1))
    return Judgment(verdict=ScoresVerdict(scores=scores), explanation=answer.get("explanation"))


def parse_tolerant(text: str) -> Judgment | Rejected:
    """Parses an answer as a person understands it (docs/judges.md has the rules). Evaluations alone use it.

    The comparison is that of the last JSON object that states one, or of a later verdict in words (`stated_verdict`).
    An answer without JSON is read like the lines of Table 6. Principles that cannot be read are left out: the
    comparison counts without them.
    """
    if "{" not in text:
        words = parse_table6_tolerant(text)
        return words if isinstance(words, Judgment) else Rejected("no_json", text[-80:])
    lists = _readable_lists(text)
    stated = stated_verdict(text, [start for start, _ in lists])
    if stated is None:
        return Rejected("missing_key", "comparison") if readable_objects(text) else Rejected("no_json", text[-80:])
    if stated.comparison is None:
        return Rejected(stated.problem, repr(stated.value or text[stated.start : stated.end]))
    if stated.value is None:  # in words: the principles of a draft before it are not its own
        named = [numbers for start, numbers in lists if start >= stated.end]
        return _judgment(stated.comparison, named[-1] if named else [], None)
    fields = {spelled(key): value for key, value in (stated.value or {}).items()}
    explanation = fields.get("explanation")
    violated = named_principles(fields.get("violated_principles"))
    return _judgment(stated.comparison, violated, explanation if is_text(explanation) else None)


def parse_last_object(text: str) -> Judgment | Rejected:
    """Parses the last JSON object of a text: the answer to prompts without tags, as rewards read it.

    Accepts text and code fences around the object, spaces and lower case in the comparison, `B>A` for `A<B`,
    principles as "P3", "3" or 3.0, repeated principles, and additional keys.
    """
    objects = json_objects(text)
    if not objects:
        return Rejected("no_json", text[-80:])
    answer = objects[-1]  # an answer may quote the form of the prompt before it
    if "comparison" not in answer:
        return Rejected("missing_key", "comparison")
    comparison = _comparison(answer["comparison"])
    if comparison is None:
        return Rejected("bad_comparison", repr(answer["comparison"]))
    if "violated_principles" not in answer:
        return Rejected("missing_key", "violated_principles")
    violated = answer["violated_principles"]
    numbers = [_number(n) for n in (violated if isinstance(violated, list) else [violated])]
    if any(n is None for n in numbers):
        return Rejected("bad_principles", repr(violated))
    explanation = answer.get("explanation")
    return _judgment(comparison, [n for n in numbers if n], explanation if is_text(explanation) else None)


def parse_table6(text: str) -> Judgment | Rejected:
    """Parses the two-line answer of the paper's Table 6: `A>B` or `A<B`, then `violated_principles: [1, 3]`.

    The numbers are distinct and from 1 to 6; the list may be empty. Only white space may surround the two lines.
    """
    lines = text.strip().split("\n")
    if len(lines) != 2 or not (match := re.fullmatch(r"violated_principles: ?\[([^\]]*)\]", lines[1].strip())):
        return Rejected("not_two_lines", text[:80])
    if (comparison := lines[0].strip()) not in ("A>B", "A<B"):
        return Rejected("bad_comparison", repr(comparison))
    numbers = match[1].split(",") if match[1].strip() else []
    # `[1-6]` and not `int`, which also reads "+1", "1_0" and digits of other scripts.
    if any(not re.fullmatch("[1-6]", n.strip(" ")) for n in numbers):
        return Rejected("bad_principles", repr(match[1]))
    violated = [int(n) for n in numbers]
    if len(set(violated)) < len(violated):
        return Rejected("bad_principles", repr(match[1]))
    return _judgment(comparison, violated, None)


def parse_table6_tolerant(text: str) -> Judgment | Rejected:
    """Parses the last complete, unconditional comparison of a text (`stated_in_words`), and the last list after
    `violated_principles` that can be read, behind it or else anywhere.

    Accepts quotes, markup and text around them. The comparison counts without a list.
    """
    lists = _readable_lists(text)
    stated = stated_in_words(text, [start for start, _ in lists])
    if stated is None or stated.comparison is None:
        return Rejected(stated.problem if stated else "bad_comparison", text[-80:])
    own = [numbers for start, numbers in lists if stated.end <= start < (stated.until or len(text))]
    violated = own or [numbers for _, numbers in lists]  # some answers name the principles before the verdict
    return _judgment(stated.comparison, violated[-1] if violated else [], None)


def _readable_lists(text: str) -> list[tuple[int, list[int]]]:
    """Start and numbers of each list of principles. One that is not empty and names no principle is left out."""
    found = []
    for match in _LIST.finditer(text):
        content = match[1] if match[1] is not None else match[2]
        numbers = named_principles(content)
        if numbers or not re.search(r"\w", content) or re.match(r"\W*none\b", content, re.IGNORECASE):
            found.append((match.start(), numbers))
    return found


def json_object(text: str, *needed: str, optional: str = "explanation") -> dict[str, Any] | Rejected:
    """The one JSON object that a text consists of, with the keys `needed`, perhaps `optional`, and none twice."""
    try:
        answer = json.loads(text, object_pairs_hook=_reject_repeated_keys)
    except _RepeatedKey as error:
        return Rejected("repeated_key", str(error))
    except (ValueError, RecursionError) as error:  # RecursionError: thousands of nested brackets
        return Rejected("no_json", str(error))
    if not isinstance(answer, dict):
        return Rejected("not_an_object", type(answer).__name__)
    if missing := [key for key in needed if key not in answer]:
        return Rejected("missing_key", missing[0])
    unknown = sorted(answer.keys() - {*needed, optional})
    return Rejected("unknown_key", repr(unknown)) if unknown else answer


class _RepeatedKey(Exception):
    pass


def _reject_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise _RepeatedKey(repr(key))
    return found


def _wrong_parts(answer: dict[str, Any]) -> Rejected | None:
    """What is wrong with the principles or the explanation of an answer with the right keys."""
    violated, explanation = answer["violated_principles"], answer.get("explanation")
    # `type`, because True is an instance of int, and `[true]` names no principle.
    if not isinstance(violated, list) or any(type(n) is not int or not 1 <= n <= 6 for n in violated):
        return Rejected("bad_principles", repr(violated))
    if len(set(violated)) != len(violated):
        return Rejected("bad_principles", f"{repr(violated)} repeats a number")
    if "explanation" in answer and not is_text(explanation):
        return Rejected("bad_explanation", repr(explanation))
    return None


def is_text(value: Any) -> TypeGuard[str]:
    """Whether the value is a string that a file can hold. JSON may escape half of a surrogate pair, which UTF-8 cannot
    encode."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def _judgment(comparison: Any, violated: list[int], explanation: str | None) -> Judgment:
    return Judgment.pairwise(comparison, sorted(set(violated)), explanation)


def _comparison(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    match = re.fullmatch(r"\s*([AB])\s*([<>])\s*([AB])\s*", value, re.IGNORECASE)
    if not match or match[1].upper() == match[3].upper():
        return None
    a_is_better = (match[1].upper() == "A") == (match[2] == ">")
    return "A>B" if a_is_better else "A<B"


def _number(value: Any) -> int | None:
    if isinstance(value, str) and (match := re.fullmatch(r"\s*P?([1-6])\s*", value, re.IGNORECASE)):
        return int(match[1])
    if isinstance(value, int | float) and not isinstance(value, bool) and value in (1, 2, 3, 4, 5, 6):
        return int(value)
    return None
