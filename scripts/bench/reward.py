"""Counts reward calls per second: the paper's reward of a judgment, and the whole breakdown of a trajectory.

    python -m scripts.bench.reward
    python -m scripts.bench.reward --calls 20000 --repeats 9

`score` is Eq. 5-8 of a judgment and its pair; `with_reward` adds the searches and the evidence hit, and copies the
trajectory. Rates are calls per second of processor time of one core.
"""

import time
from collections.abc import Callable
from statistics import median

from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span, Trajectory, Turn
from judge_r1.core.verdicts import Evidence, Judgment
from judge_r1.episode.reward import score, with_reward
from scripts.bench.output import Row, draw_bars, parser_of, write_rows


def example() -> tuple[ReasoningPair, Trajectory]:
    """A pair with two flaws and a trajectory of 600 tokens with three searches."""
    reference = "1. The report names the drug. 2. So the dose was wrong."
    case = Case.of(
        domain="medical", context="The report names another drug. " * 200, decision="grant", reference=reference,
        source="bench", license="Apache-2.0",
    )  # fmt: skip
    flawed = f"{reference} This is clear to all. It was on Monday."
    spans = (Span(start=0, end=30),)
    middle = len(reference) + 22
    flaws = (
        Flaw(principle=5, operator="bench", span=Span(start=len(reference), end=middle)),
        Flaw(principle=4, operator="bench", span=Span(start=middle, end=len(flawed)), context_spans=spans),
    )
    pair = ReasoningPair.of(case, flawed, variant=1, origin=Origin(teacher="bench", seed=0, flaws=flaws), seed=0)
    shown = tuple(
        Evidence(case_id=case.case_id, start=600 * i, end=600 * (i + 1), text="a passage", score=0.5) for i in range(3)
    )
    turns = [Turn(text="<search>q</search>", query="q", passages=shown, observation="x") for _ in range(3)]
    trajectory = Trajectory(
        prompt_ids=tuple(range(2000)),
        token_ids=tuple(range(600)),
        loss_mask=(1,) * 600,
        logprobs=(-0.5,) * 600,
        turns=(*turns, Turn(text='<answer>{"comparison": "A>B", "violated_principles": [2, 4]}</answer>')),
        judgment=Judgment.pairwise("A>B", (2, 4), evidence=shown * 3),
        ended="answer",
    )
    return pair, trajectory


def rate(call: Callable[[], object], calls: int) -> float:
    started = time.process_time()
    for _ in range(calls):
        call()
    return calls / (time.process_time() - started)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    pair, trajectory = example()
    calls = {"score": lambda: score(trajectory.judgment, pair), "with_reward": lambda: with_reward(trajectory, pair)}
    rates: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(options.repeats):
        for name, call in calls.items():
            rates[name].append(rate(call, options.calls))
    rows: list[Row] = [
        {"call": name, "calls_per_s": median(found), "lowest": min(found), "highest": max(found)}
        for name, found in rates.items()
    ]
    write_rows(options.out, "reward", rows, vars(options))
    draw_bars(options.out / "reward.svg", {row["call"]: row["calls_per_s"] for row in rows}, x="calls per second")


if __name__ == "__main__":
    main()
