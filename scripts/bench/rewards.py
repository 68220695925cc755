"""Group rewards: the cost and the agreement of the schedules, and the time of a batch.

    python -m scripts.bench.rewards agreement --scores hellobench_gpt4o_checklist_scores.jsonl.gz
    python -m scripts.bench.rewards speed

`agreement` compares the scores of each schedule with those of `all_pairs` on recorded comparisons. The file holds the
checklist scores that GPT-4o gave to the texts of HelloBench's models, one text a line with `category`, `id` and the
scores `q`. A text beats another if more of its questions have the higher score. Groups of up to 16 are texts of one
prompt, groups of 64 texts of one category. `rho` is Spearman's rank correlation with the scores of `all_pairs`, `best`
the share of groups in which the two name the same best text.

`speed` rewards 8 groups of 16 completions with a judge that takes 50 ms, at an endpoint in a process of its own: by a
loop over the groups with one request to `POST /v1/score` for each, and by `GroupReward`, on the same server and in this
process. All take turns in each repeat.
"""

import argparse
import asyncio
import gzip
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, median

import httpx

from judge_r1.rewards.group import Comparison, GroupScores, judge_group
from judge_r1.rewards.schedule import SCHEDULES, Schedule
from judge_r1.rewards.trl import GroupReward
from judge_r1.statistics.correlation import spearman
from scripts.bench.output import Row, parser_of, write_rows
from scripts.bench.serve import free_port
from scripts.bench.serve_endpoint import ANSWERS, running

Answers = Sequence[Sequence[float]]
"""The checklist scores of each text of a group."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["agreement", "speed"])
    parser.add_argument("--scores", type=Path, help="recorded checklist scores, JSON Lines, gzipped")
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 8, 16, 64])
    parser.add_argument("--groups", type=int, default=100, help="groups of each size")
    parser.add_argument("--repeats", type=int, default=5, help="of the measurement of speed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.what == "agreement" and options.scores is None:
        parser.error("agreement needs --scores")
    rows = agreement(options) if options.what == "agreement" else speed(options)
    write_rows(options.out, "rewards", rows, vars(options))


def agreement(options: argparse.Namespace) -> list[Row]:
    """One row for each size and schedule; judgments count both orders."""
    rows: list[Row] = []
    with gzip.open(options.scores, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line) for line in lines]
    for size in options.sizes:
        groups = drawn_groups(texts, size, options.groups, random.Random(options.seed))
        full = [recorded(group, "all_pairs") for group in groups]
        for schedule in SCHEDULES:
            found = [recorded(group, schedule) for group in groups]
            pairs = [(_values(one), _values(other)) for one, other in zip(found, full, strict=True)]
            rho = [value for one, other in pairs if (value := spearman(one, other)) is not None]
            rows.append({
                "size": size, "schedule": schedule, "groups": len(groups),
                "judgments": median(len(one.comparisons) for one in found), "rho": fmean(rho),
                "lowest_tenth": sorted(rho)[len(rho) // 10],
                "best": fmean(other[one.index(max(one))] == max(other) for one, other in pairs),
            })  # fmt: skip
    return rows


def drawn_groups(texts: Sequence[Row], size: int, count: int, draw: random.Random) -> list[Answers]:
    """Random groups of texts that answer one prompt, or of one category if no prompt has so many."""
    for key in ("id", "category"):
        pools: defaultdict[tuple[str, int], list[list[float]]] = defaultdict(list)
        for text in texts:
            pools[f"{text['file']} {text[key]}", len(text["q"])].append(text["q"])
        large = [pool for pool in pools.values() if len(pool) >= size]
        if large:
            return [draw.sample(draw.choice(large), size) for _ in range(count)]
    raise SystemExit(f"no category has {size} texts")


def recorded(answers: Answers, schedule: Schedule) -> GroupScores:
    """The scores of a group on recorded comparisons. They do not depend on the order."""

    async def compare(first: int, second: int) -> Comparison:
        better = sum((a > b) - (a < b) for a, b in zip(answers[first], answers[second], strict=True))
        return Comparison(first, second, 0.5 if better == 0 else float(better > 0))

    return asyncio.run(judge_group(len(answers), compare, schedule=schedule))


def _values(found: GroupScores) -> list[float]:
    return [0.0 if score is None else score for score in found.scores]


def speed(options: argparse.Namespace) -> list[Row]:
    """Seconds of one batch; `times` is the loop's time divided by this one's, the median over the repeats."""
    prompts = [f"question {group}" for group in range(8) for _ in range(16)]
    completions = [f"answer {number} " + "word " * (number % 16) for number in range(len(prompts))]
    port, judged = free_port(), free_port()
    spec = f"direct@http://127.0.0.1:{port}/v1#m"
    url = f"http://127.0.0.1:{judged}"
    _, answer = ANSWERS["direct"]
    rewards = {
        "GroupReward(URL)": GroupReward(url), "GroupReward(SPEC)": GroupReward(spec),
        "GroupReward(SPEC, orders=1)": GroupReward(spec, orders=1),
        "GroupReward(SPEC, concurrency=16)": GroupReward(spec, concurrency=16),
    }  # fmt: skip
    runs: dict[str, Callable[[], list[float | None]]] = {"loop over /v1/score": lambda: loop(url, prompts, completions)}
    for name, reward in rewards.items():
        runs[name] = lambda reward=reward: asyncio.run(reward(prompts, completions))  # type: ignore[misc]
    with ExitStack() as stack:
        stack.enter_context(
            running(port, "scripts.bench.endpoint_load", "endpoint", "--answer", answer, "--port", f"{port}")
        )
        stack.enter_context(running(judged, "judge_r1.cli", "serve", "--judge", spec, "--port", f"{judged}"))
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(options.repeats):
            for name, run in runs.items():
                started = time.perf_counter()
                found = run()
                seconds[name].append(time.perf_counter() - started)
                assert None not in found
    first = seconds["loop over /v1/score"]
    for reward in rewards.values():
        reward.close()
    return [
        {"run": name, "seconds": median(took), "lowest": min(took), "highest": max(took),
         "times": median(loop / own for loop, own in zip(first, took, strict=True))}
        for name, took in seconds.items()
    ]  # fmt: skip


def loop(url: str, prompts: Sequence[str], completions: Sequence[str]) -> list[float | None]:
    """A synchronous reward function that scores one group after the other by `POST /v1/score`."""
    groups: dict[str, list[int]] = {}
    for index, prompt in enumerate(prompts):
        groups.setdefault(prompt, []).append(index)
    rewards: list[float | None] = [None] * len(prompts)
    with httpx.Client(base_url=url, timeout=600) as server:
        for prompt, indices in groups.items():
            body = {"prompt": prompt, "candidates": [completions[index] for index in indices]}
            scores = server.post("/v1/score", json=body).raise_for_status().json()["scores"]
            for index, score in zip(indices, scores, strict=True):
                rewards[index] = score
    return rewards


if __name__ == "__main__":
    main()
