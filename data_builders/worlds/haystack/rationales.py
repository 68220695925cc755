"""Writes rationales for `haystack`: look up lines of the two reasonings, compare both claims with the record, and name
the worse side.

The writers differ only in the lines that they look up. A look-up quotes the claims of A and B in a line, searches the
person they name, and states what the record says and which claim that supports. Where the claims differ, it restates
both events and says whether they are alike, which decides between P2 and P4.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from data_builders.rationales import WRITERS, Rationale
from data_builders.worlds.haystack.source import WORDS
from data_builders.worlds.mini.source import FACT, Fact, facts_of
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.training.data.targets import answer

_CLAIM = re.compile(rf"(?P<number>\d+)\. {FACT.pattern},")
_SIGNS = (
    dict.fromkeys(WORDS.non_sequiturs.values(), 1)
    | dict.fromkeys(WORDS.prejudices.values(), 3)
    | dict.fromkeys((" ".join(words.split()[:2]) for words in WORDS.vague.values()), 5)
    | dict.fromkeys((" ".join(words.split()[:2]) for words in WORDS.harmful.values()), 6)
)
"""Words → the principle that they violate."""
Claims = dict[str, tuple[Fact, Fact]]
"""Line number → the claims of A and of B."""
NAMED = 0.9
"""Share of right names in the warm-up's rationales that found a flaw of P2 or P4. The others name the other of the two.
"""
Chooser = Callable[[ReasoningPair, Claims, int], Sequence[str]]
"""(pair, claims, number of searches) -> the lines to look up."""


def write_haystack(
    case: Case, pair: ReasoningPair, config: EpisodeConfig, *, choose: Chooser, right: float = 1.0
) -> Rationale:
    """Quotes each line of both reasonings and checks the chosen claims, by a search if the episode has them, else in
    the case if it is in the prompt. Ends at the first flaw that it sees, and gives up on pairs with several. Its name
    stands behind the words that show it and before the verdict.

    A flaw that only the case shows is named right in the share `right` of rationales that found it. If that is below 1,
    those that did not find it say P2 always: a guess would teach guessing."""
    if len(pair.violated) > 1:
        return
    claims, thought = claims_of(pair), "<think>"
    seen = [] if config.search else facts_of(case.context)  # with search: what the search of the line finds
    can_check = config.search or config.context == "full"
    chosen = choose(pair, claims, config.budget.max_searches) if can_check else ()
    worse = f" {'B' if pair.preferred == 'A' else 'A'} worse"
    for lines in zip(pair.reasoning_a.split("\n"), pair.reasoning_b.split("\n"), strict=True):
        number, (quote_a, sign_a), (quote_b, sign_b) = lines[0].split(".")[0], *map(quote, lines)
        thought += f" {number} A {quote_a}{f' {sign_a}' if sign_a else ''} B {quote_b}"
        if sign_a != sign_b:
            yield f"{thought} {sign_a or sign_b}{worse}</think>"
            return
        if number not in claims:
            continue
        a, b = claims[number]
        thought += " same" if a == b else f" differs {a.did} {b.did} {alike(a, b)}"
        if number not in chosen:
            thought += " skip"
            continue
        thought += f" check A {a.who}"
        if config.search:
            passages = yield f"{thought}</think><search> {a.who}</search>"
            thought, seen = "<think>", [fact for passage in passages for fact in facts_of(passage.text)]
        thought += " record" + "".join(f" {record} {support}" for record, support in finding(a, b, seen))
        thought += "" if a == b else f" {alike(a, b)}"
        if (a in seen) != (b in seen):
            name = named(pair, right)
            yield f"{thought} {name}{worse}</think>{answer_naming(pair, name)}"
            return
    hidden = pair.violated in ((2,), (4,))
    name = 2 if hidden and right < 1 else pair.violated[0]
    yield f"{thought} {name}{worse}</think>{answer_naming(pair, name)}"


def named(pair: ReasoningPair, right: float) -> int:
    """The principle of a pair that violates P2 or P4, or, in the share 1 - `right` of pairs, the other one."""
    (principle,) = pair.violated
    return principle if Random(content_hash("name", pair.pair_id)).random() < right else 6 - principle


def answer_naming(pair: ReasoningPair, principle: int) -> str:
    """The right answer, but with this principle."""
    return answer(pair.gold.model_copy(update={"violated_principles": (principle,)}), "json")


def alike(a: Fact, b: Fact) -> str:
    """Whether two claims state the same event: what a judge says of them before it names the flaw."""
    return "alike" if a.did == b.did else "unlike"


def quote(line: str) -> tuple[str, int]:
    """The claim with its inference or the first two words of the advice, and the principle that it visibly violates
    (0: none)."""
    text = line.split(". ", 1)[1]
    sign = next((number for words, number in _SIGNS.items() if words in text), 0)
    return text if "," in text else " ".join(text.split()[:2]), sign


def claims_of(pair: ReasoningPair) -> Claims:
    """The claims of both reasonings by line."""
    both = (_CLAIM.finditer(text) for text in (pair.reasoning_a, pair.reasoning_b))
    return {
        a["number"]: (Fact(a["who"], a["did"], a["value"]), Fact(b["who"], b["did"], b["value"]))
        for a, b in zip(*both, strict=True)
    }


def finding(a: Fact, b: Fact, seen: Sequence[Fact]) -> list[tuple[str, str]]:
    """The records of the people of both claims, each with the claim that it supports: A, B, both or no.

    The lists of the base may name two people in a line. Rationales name one, whose record is then given twice, as the
    base learned it."""
    supported = {(True, True): "both", (True, False): "A", (False, True): "B", (False, False): "no"}
    records = [(who, next((fact for fact in seen if fact.who == who), None)) for who in (a.who, b.who)]
    return [(str(record or f"{who} none"), supported[record == a, record == b]) for who, record in records]


def undirected(pair: ReasoningPair, claims: Claims, searches: int) -> Sequence[str]:
    """One to `searches` lines, drawn without looking at them."""
    rng = Random(content_hash("lines", pair.pair_id))
    return rng.sample(list(claims), rng.randint(1, searches))


def in_order(pair: ReasoningPair, claims: Claims, searches: int) -> Sequence[str]:
    """The first lines, until the budget is spent."""
    return list(claims)[:searches]


def differing(pair: ReasoningPair, claims: Claims, searches: int) -> Sequence[str]:
    """The lines in which A and B claim different things."""
    return [number for number, (a, b) in claims.items() if a != b][:searches]


WRITERS.register("haystack")(partial(write_haystack, choose=differing))
WRITERS.register("haystack-undirected")(partial(write_haystack, choose=undirected, right=NAMED))
WRITERS.register("haystack-careful")(partial(write_haystack, choose=in_order, right=NAMED))
