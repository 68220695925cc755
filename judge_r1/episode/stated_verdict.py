"""Finds the verdict of an answer in free form: the last complete, unconditional one. Evaluations alone use it.

docs/judges.md has the rules. Alternatives ("A>B or A<B"), conditions ("A>B if …"), examples, concessions
("although A > B") and comparisons in one respect ("A > B in length") are no verdicts. Where several verdicts contradict
each other, and nothing says that one corrects the other, there is none.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from judge_r1.core.verdicts import Comparison
from judge_r1.episode.readable_json import Repeated, readable_objects

_SIDE = r"(?:(?:reasoning|answer|response|candidate|assistant|option|analysis|review|conversation)\s+)?([AB])"
_SIGN = r"(>{1,2}|<{1,2}|[≻≺＞＜]|&[gl]t;)"
_COMPARED = re.compile(
    rf"(?<![\w<>&])(?<!\w[<>]\s)(?<!\w\s[<>]\s){_SIDE}\s*{_SIGN}\s*{_SIDE}(?![\w<>]|\s[<>]\s*\w)", re.IGNORECASE
)
_BETTER = re.compile(
    rf"\W*{_SIDE}(?:\s+(?:is|wins)\b)?(?:\s+the)?(?:\s+(?:better|best|stronger|winner|preferred))?(?:\s+one)?\W*",
    re.IGNORECASE,
)
_KEY = re.compile(r"comparison\W{1,9}(?=\w)", re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_LISTED = re.compile(r"\bviolated[ _]principles?\b\W*(?:\[[^\]]*\]|[\d, ]*)", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g\.?|example(?: output| answer)?|template)\W*$", re.IGNORECASE)

_NEAR = 200
"""Characters before and after a comparison that are looked at."""
_MOST = 200
"""Comparisons at the end of a text that are looked at."""
_LABEL = re.compile(
    r"(?:(?:the|my|final|overall|step|so) )*(?:(?:verdict|answer|comparison|decision|judge?ment|result|conclusion"
    r"|choice|winner) )?(?:is )?(?:\d )?"
)
"""The words before a comparison that stands alone on its line."""
_DECIDED = re.compile(
    r"\b(?:so|therefore|thus|hence|overall|final(?:ly)?|verdict|answer|decision|judge?ment|conclu\w*|result|choose"
    r"|prefer|pick|say)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:\b(?:if|unless|suppose)\b|^\W*(?:assuming|supposing|provided|were|had|should)\b)"
    r"(?!.*\b(?:so|therefore|thus|hence)\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:cannot|never|nobody|no one|hardly)|n['’]t)\b.{0,12}\b(?:say|think|believe|claim|conclude|agree|argue)\b"
    r"|\b(?:wrong|false|incorrect|untrue|mistaken|unfair)\s+(?:to|that)\b",
    re.IGNORECASE,
)
_WHOLE = (
    r"(?!(?:all|every|each|overall|general|total|sum|both|my|these|this|the (?:whole|end|following|reasons?)"
    r"|a (?:wide|small|clear|narrow|lot)|far|balance|confidence|conclusion|summary|short|reflection|fact)\b)"
)
_RESPECT = re.compile(
    rf"\W*(?:(?:on|in|for|by)\s+{_WHOLE}\w+(?: alone)?"
    rf"|(?:regarding|concerning|in terms of|as to|as for|with (?:regard|respect) to)\s+{_WHOLE}[^,:]*)[,:]?\W*",
    re.IGNORECASE,
)
"""A sentence that compares in one respect: "In style, A>B"."""
_CONCEDED = re.compile(
    r"\b(?:although|though|while|even|despite|whereas|granted|not|neither|than|whether|either|format|example"
    r"|such as)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"[^\w.!?;]{0,3}(?:not|if|when|iff|unless|would|could|might|may|only (?:if|when|where)|as long as|provided|assuming"
    r"|means?|stands for|indicates?|cannot|can['’]t|(?:do|does|is)(?:n['’]t| not)"
    r"|(?:is|was|seems) (?:wrong|false|incorrect|untrue|mistaken))\b"
    r"|\W{0,2}\?"
    rf"|\s+(?:in|on|for|by|with|regarding|concerning|as to|at)\s+{_WHOLE}",
    re.IGNORECASE,
)
_OWN, _SAID, _PLAIN, _SHOWN, _NONE = 4, 3, 2, 1, 0
"""How clearly a comparison is the verdict: alone on its line, behind a word such as "so", without either, as an
example, or not at all."""


class Stated(NamedTuple):
    """A verdict and where it stands: `text[start:end]`; `sign` is the index of its `<` or `>`. `value` is the JSON
    object that it comes from, if any, and `until` the start of the next comparison in a text of words. Without a
    verdict, `comparison` is None and `problem` says why."""

    comparison: Comparison | None
    start: int
    end: int
    sign: int | None = None
    value: dict[str, Any] | None = None
    until: int | None = None
    problem: Literal["bad_comparison", "contradiction"] = "bad_comparison"


def compared(value: Any) -> Comparison | None:
    """The comparison in a value such as `A>B`, `B < A`, `Answer A > Answer B` or `A is better`; None for others."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return None
    value = normalize("NFKC", value)
    found = {_direction(match) for match in _COMPARED.finditer(value[:_NEAR])}
    if found:
        starts = _COMPARED.match(value.lstrip(" \n\t*_`'\"[("))
        return found.pop() if len(found) == 1 and starts else None
    match = _BETTER.fullmatch(value[:_NEAR])
    return None if match is None else "A>B" if match[1].upper() == "A" else "A<B"


def stated_verdict(text: str, lists: Sequence[int] = ()) -> Stated | None:
    """The verdict of an answer with JSON: that of `stated_in_json`, or a later one in words that is marked as one,
    such as "Final verdict: A>B". None if no object has the key `comparison`."""
    in_json = stated_in_json(text)
    if in_json is None or not _COMPARED.search(text, in_json.end):
        return in_json
    behind = max(in_json.end, readable_objects(text)[-1].end)
    in_words = stated_in_words(text, lists, behind, least=_SAID)
    if in_words is None or (in_words.comparison is not None and in_words.comparison == in_json.comparison):
        return in_json
    return _last(text, [in_json, in_words])


def stated_in_json(text: str) -> Stated | None:
    """The verdict of the last JSON object that has one; None if no object has the key `comparison`.

    Objects that show the format (both comparisons in one value), or that follow "for example", do not count beside
    others. Two that disagree contradict each other, unless there are words between them.
    """
    found, end = list[Stated](), 0
    plain = list[bool]()
    for value, start, stop in readable_objects(text):
        for holder, given in _with_comparison(value):
            comparison, sides = compared(given), {_direction(match) for match in _COMPARED.finditer(str(given)[:_NEAR])}
            contradicts = isinstance(given, Repeated) or len(sides) > 1
            stated = Stated(comparison, start, stop, _sign_in(text, start, stop), holder)
            found.append(stated._replace(problem="contradiction") if contradicts else stated)
            shown = _FENCE.sub("", text[max(end, start - _NEAR) : start])
            plain.append(not contradicts and not _EXAMPLE.search(shown))
        end = stop
    if not found:
        return None
    chosen = [stated for stated, is_plain in zip(found, plain, strict=True) if is_plain] or found
    return _last(text, chosen)


def stated_in_words(text: str, lists: Sequence[int] = (), begin: int = 0, *, least: int = _NONE) -> Stated | None:
    """The verdict in the words of a text from `begin` on; None if it has no comparison that is as clear as `least`.
    `lists` has the starts of the lists of principles: a verdict with one behind it is complete."""
    mentions = [match for match in _COMPARED.finditer(text, begin) if _direction(match)][-_MOST:]
    ranks = [_rank(text, mentions, number) for number in range(len(mentions))]
    if not mentions or max(ranks) < least:
        return None
    starts = [*(match.start() for match in mentions), len(text)]
    found = [
        Stated(_direction(match), match.start(), match.end(), match.start(2), until=until)
        for match, until in zip(mentions, starts[1:], strict=True)
    ]
    if not (best := max(ranks)):
        return found[0]._replace(comparison=None)
    clear = [number for number, rank in enumerate(ranks) if rank == best]
    nexts = [*(found[number].start for number in clear[1:]), len(text)]
    complete = [
        number
        for number, until in zip(clear, nexts, strict=True)
        if bisect_left(lists, found[number].end) < bisect_left(lists, until)
    ]
    chosen = (complete or clear)[-1]
    # Where nothing marks a verdict, every comparison may be one, so none may contradict it. Behind a marked one, only
    # what follows can take it back.
    against = clear if best <= _PLAIN else range(chosen, len(found))
    said = {found[number].comparison for number in against if ranks[number] >= min(best, _PLAIN)}
    if len(said) > 1:
        return found[chosen]._replace(comparison=None, problem="contradiction")
    return _last(text, [found[number] for number in clear if number <= chosen])


def _last(text: str, found: Sequence[Stated]) -> Stated:
    """The last one, unless the one before it says the opposite without a word between them, lists aside."""
    *_, last = found
    before = next((one for one in reversed(found[:-1])), None)
    if before is None or None in (before.comparison, last.comparison) or before.comparison == last.comparison:
        return last
    between = _LISTED.sub("", _FENCE.sub("", text[before.end : last.start][:_NEAR]))
    if re.search(r"\w", between):
        return last
    return last._replace(comparison=None, problem="contradiction")


def _with_comparison(value: dict[str, Any], depth: int = 2) -> list[tuple[dict[str, Any], Any]]:
    """The objects with a key `comparison`, however it is written: the object itself, or else those in it."""
    named = [given for key, given in value.items() if spelled(key) == "comparison"]
    if named:
        return [(value, named[0] if len({str(given) for given in named}) == 1 else Repeated(named))]
    if not depth:
        return []
    inner = [one for given in value.values() for one in (given if isinstance(given, list) else [given])]
    return [found for one in inner if isinstance(one, dict) for found in _with_comparison(one, depth - 1)]


def spelled(key: str) -> str:
    """A key in lower case, with `_` between its words."""
    return "_".join(re.split(r"[\s_-]+", key.strip().casefold()))


def _rank(text: str, mentions: Sequence[re.Match[str]], number: int) -> int:
    """How clearly a comparison is the verdict; 0 if it is none."""
    match = mentions[number]
    # "A>B or A<B": alternatives side by side show the form of an answer, and choose none.
    for other in (*mentions[max(0, number - 1) : number], *mentions[number + 1 : number + 2]):
        gap = text[min(match.end(), other.end()) : max(match.start(), other.start())]
        if _direction(other) != _direction(match) and len(gap) < 9 and re.fullmatch(r"[^\w\n]*(?:or[^\w\n]*)?", gap):
            return _NONE
    begun = max(text.rfind("\n", max(0, match.start() - _NEAR), match.start()) + 1, match.start() - _NEAR, 0)
    before, after = text[begun : match.start()], text[match.end() : match.end() + _NEAR].partition("\n")[0]
    sentence = re.split(r"[.!?;](?!\w)", before)[-1]
    clause = re.split(r"[,:]|\b(?:so|therefore|thus|hence)\b", sentence, flags=re.IGNORECASE)[-1]
    if _OPEN.match(after) or _CONDITION.search(sentence) or _CONCEDED.search(clause) or _DENIED.search(sentence):
        return _NONE
    if _RESPECT.fullmatch(sentence):
        return _NONE
    above = text[max(0, begun - _NEAR) : begun].rstrip()
    if _EXAMPLE.search(above) or _EXAMPLE.search(before):
        return _SHOWN
    words = "".join(f"{word} " for word in re.findall(r"\w+", before.casefold()))
    if _LABEL.fullmatch(words) and re.match(r"\W*(?:violated|$)", after, re.IGNORECASE):
        return _OWN
    return _SAID if _DECIDED.search(before) else _PLAIN


def _direction(match: re.Match[str]) -> Comparison | None:
    """The comparison of a match; None if it compares a side with itself."""
    first, sign, second = match[1].upper(), match[2], match[3].upper()
    if first == second:
        return None
    return "A>B" if (first == "A") == (sign[0] in ">≻＞" or sign == "&gt;") else "A<B"


def _sign_in(text: str, start: int, end: int) -> int | None:
    """Index of the sign of the last comparison behind the key in an object."""
    keys = _KEY.finditer(text, start, end)
    signs = [match.start(2) for key in keys if (match := _COMPARED.match(text, key.end(), end))]
    return signs[-1] if signs else None
