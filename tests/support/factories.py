"""Small cases and pairs, and a byte-level tokenizer, for tests of several packages."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from data_builders.perturb.rules.operators import OPERATORS, Operator
from data_builders.text_units.steps import split_steps
from data_builders.worlds.mini.source import EVENTS, read
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.core.verdicts import Evidence
from judge_r1.files.pair_set import PairSet

ANY_EVENT = " ".join(did for events in EVENTS.values() for did in events)
"""A query that matches every passage of every case of `mini`."""


def make_case(
    context: str = "ana paid 34. ben left rome.",
    *,
    decision: str = "grant",
    reference: str = "1. ana paid 34, so this counts.",
    domain: str = "legal",
    meta: dict[str, Any] | None = None,
) -> Case:
    return Case.of(
        domain=domain,
        context=context,
        decision=decision,
        reference=reference,
        source="toy",
        license="Apache-2.0",
        meta=meta,
    )


def make_pair(
    case: Case, flawed: str = "1. ana paid 35, so this counts.", violated: Sequence[int] = (2,), *, seed: int = 0
) -> ReasoningPair:
    """A pair whose flaws span the whole flawed text; P2 flaws contradict the first ten characters of the context."""
    spans = (Span(start=0, end=min(10, len(case.context))),)
    flaws = tuple(
        Flaw(
            principle=n,
            operator="toy",
            span=Span(start=0, end=len(flawed)),
            context_spans=spans if n == 2 else (),
        )
        for n in violated
    )
    return ReasoningPair.of(case, flawed, variant=1, origin=Origin(teacher="toy", seed=0, flaws=flaws), seed=seed)


def mini_cases(count: int, seed: int = 0) -> list[Case]:
    return list(read(None, count, seed, Counter()))


def broken(case: Case, operators: Sequence[Operator], rng: Random, *, seed: int = 0) -> ReasoningPair | None:
    """The case's reference with one flaw per operator, each in a different step; None if they do not fit."""
    steps = split_steps(case.reference)
    edits = []
    for operator in operators:
        found = [(step, edit) for step in steps for edit in operator.apply(case, step, rng)]
        if not found:
            return None
        step, edit = rng.choice(found)
        steps = [other for other in steps if other is not step]
        edits.append((operator, edit))
    text, flaws = case.reference, []
    for operator, edit in sorted(edits, key=lambda pair: -pair[1].start):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
        grown = len(edit.replacement) - (edit.end - edit.start)
        flaws = [f.model_copy(update={"span": Span(start=f.span.start + grown, end=f.span.end + grown)}) for f in flaws]
        span = Span(start=edit.start, end=edit.start + len(edit.replacement))
        flaws.append(
            Flaw(
                principle=operator.principle,
                operator=operator.name,
                span=span,
                context_spans=edit.context_spans,
            )
        )
    return ReasoningPair.of(
        case, text, variant=1, origin=Origin(teacher="rules", seed=0, flaws=tuple(flaws)), seed=seed
    )


def mini_pairs(count: int, seed: int = 0) -> PairSet:
    """One pair for each of `count` cases, cycling through the operators of `mini`; every seventh pair has two flaws."""
    cases, pairs = mini_cases(count, seed), []
    operators = OPERATORS["mini"]
    for number, case in enumerate(cases):
        rng = Random(seed * 1_000_003 + number)
        chosen = [operators[number % len(operators)]]
        if number % 7 == 6:
            others = [o for o in operators if o.principle != chosen[0].principle]
            chosen.append(rng.choice(others))
        if pair := broken(case, chosen, rng, seed=seed):
            pairs.append(pair)
    return PairSet.of(cases, pairs)


def mini_variants(count: int, variants: int) -> PairSet:
    """Up to `variants` pairs for each of `count` cases, with different flaws."""
    cases, operators, pairs = mini_cases(count), OPERATORS["mini"], []
    for number, case in enumerate(cases):
        rng, found = Random(number), dict[str, ReasoningPair]()
        for operator in operators:
            if len(found) < variants and (pair := broken(case, [operator], rng)):
                found.setdefault(pair.flawed, pair)
        pairs += found.values()
    return PairSet.of(cases, pairs)


def evidence(*texts: str, case_id: str = "case") -> list[Evidence]:
    return [Evidence(case_id=case_id, start=0, end=max(1, len(t)), text=t, score=1.0) for t in texts]


class ByteTokenizer:
    """A byte-level tokenizer without a library: ids 0-255 are bytes, higher ids byte strings. An incomplete character
    decodes to U+FFFD. Encoding is greedy: the longest matching token first."""

    bytewise = True

    def __init__(self, *words: bytes) -> None:
        self.vocabulary = [bytes([n]) for n in range(256)] + list(words)
        self._longest_first = sorted(range(len(self.vocabulary)), key=lambda i: -len(self.vocabulary[i]))

    def id_of(self, word: bytes) -> int:
        return self.vocabulary.index(word)

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self.vocabulary[i] for i in ids).decode("utf-8", errors="replace")

    def encode_trusted(self, text: str) -> list[int]:
        return list(self._encode(text.encode()))

    def encode_untrusted(self, text: str) -> list[int]:
        return list(text.encode())

    def _encode(self, data: bytes) -> Iterator[int]:
        while data:
            best = next(i for i in self._longest_first if data.startswith(self.vocabulary[i]))
            yield best
            data = data[len(self.vocabulary[best]) :]
