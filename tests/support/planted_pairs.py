"""Toy pairs with or without a planted shortcut, for tests of the audit."""

from random import Random

from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span

WORDS = [f"word{n}" for n in range(300)]
Plant = dict[tuple[str, int], str]
"""The word that replaces another one in flawed texts, by domain and principle; a random word by default."""


def pairs_of(
    cases: int,
    plant: Plant,
    *,
    principles: tuple[int, ...] = (2,),
    domains: tuple[str, ...] = ("legal",),
    seed: int = 0,
) -> list[ReasoningPair]:
    """One pair per case and principle; three operators alternate."""
    rng, pairs = Random(seed), []
    for number in range(cases):
        words, domain = rng.sample(WORDS, 30), domains[number % len(domains)]
        case = Case.of(
            domain=domain,
            context=f"case {number}",
            decision="x",
            reference=" ".join(words),
            source="test",
            license="CC0-1.0",
        )
        for principle in principles:
            position = rng.randrange(30)
            new = plant.get((domain, principle)) or rng.choice([w for w in WORDS if w not in words])
            changed = [*words[:position], new, *words[position + 1 :]]
            start = len(" ".join(words[:position])) + (position > 0)
            flaw = Flaw(principle=principle, operator=f"o{number % 3}", span=Span(start=start, end=start + len(new)))
            origin = Origin(teacher="test", seed=0, flaws=(flaw,))
            pairs.append(ReasoningPair.of(case, " ".join(changed), variant=1, origin=origin, seed=0))
    return pairs
