"""Measures what an episode costs beside the model and the search: state machine, decoding, observations, events.

    OMP_NUM_THREADS=1 python -m scripts.bench.loop_overhead
    OMP_NUM_THREADS=1 python -m scripts.bench.loop_overhead --episodes 64 --repeats 9 --turn-words 200

The model returns prepared ids at once and the search prepared passages, so all time is that of the loop
(`EpisodeDriver.run_together`). Every episode makes three searches and answers. The time of observations (rendering and
tokenizing 3 passages of 100 words) is given apart: it is measured by episodes that answer after as many turns without
a passage. Both take turns in every repeat; times are processor times.
"""

import asyncio
import time
from collections.abc import Sequence
from statistics import median

from judge_r1.core.verdicts import Evidence
from judge_r1.episode.config import Budget
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.machine import Episode, Finished
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.models.hub import load_tokenizer
from scripts.bench.output import Row, draw_bars, parser_of, write_rows

SEARCHES = 3
ANSWER = '<answer>{"comparison": "A>B", "violated_principles": [2], "explanation": "The report differs."}</answer>'


class ZeroLatencyModel:
    """Returns the prepared ids of a turn. The seed of a request is the number of the turn."""

    def __init__(self, turns: Sequence[Sequence[int]]) -> None:
        self.turns = turns

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        return [self._next(request) for request in requests]

    def _next(self, request: GenerateRequest) -> Generation:
        ids = self.turns[request.seed]
        return Generation(token_ids=ids, logprobs=[-0.5] * len(ids))


class CountingEpisode(Episode):
    """An episode whose seed is the number of its turn."""

    def observe(self, passages: Sequence[Evidence]) -> list[int]:
        self.seed += 1
        return super().observe(passages)


def run(tokenizer: SafeTokenizer, episodes: int, turn_words: int, passages: Sequence[Evidence]) -> float:
    """Processor milliseconds per turn."""
    thought = f"<think>{'the report says otherwise and ' * (turn_words // 5)}</think>"
    turns = [f"{thought}<search>what did the {number}. expert say</search>" for number in range(SEARCHES)]
    model = ZeroLatencyModel([tokenizer.encode_trusted(text) for text in [*turns, thought + ANSWER]])
    budget = Budget(max_searches=SEARCHES, response_tokens=4000, observation_tokens=4000)
    prompt = tokenizer.encode_trusted("Which reasoning is better? " * 40)
    batch = [CountingEpisode(prompt, budget, tokenizer, eos_ids=[0]) for _ in range(episodes)]
    driver = EpisodeDriver(model)
    started = time.process_time()
    asyncio.run(driver.run_together(batch, lambda queries: [list(passages) for _ in queries], 0.0))
    seconds = time.process_time() - started
    for episode in batch:
        assert isinstance(episode.state, Finished), episode.state
        assert episode.state.reason == "answer", episode.state
        assert episode.trajectory().searches == SEARCHES
    return 1000 * seconds / (episodes * (SEARCHES + 1))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--episodes", type=int, default=64, help="episodes that run side by side")
    parser.add_argument("--turn-words", type=int, default=20, help="words of the thought of a turn")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--model", default="bundled:tiny", help="model whose tokenizer is used")
    options = parser.parse_args()
    tokenizer = SafeTokenizer(load_tokenizer(options.model))
    text = "The expert found no trace of the substance in the second sample. " * 9
    found = [Evidence(case_id="c", start=i, end=i + len(text), text=text, score=0.5) for i in range(3)]
    kinds = {"loop": found[:0], "loop and observations": found}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(options.repeats + 1):
        for name, passages in kinds.items():
            times[name].append(run(tokenizer, options.episodes, options.turn_words, passages))
    rows: list[Row] = [
        {"what": name, "ms_per_turn": median(spent), "lowest": min(spent), "highest": max(spent)}
        for name, spent in ((name, all_of[1:]) for name, all_of in times.items())  # the first is a warm-up
    ]
    write_rows(options.out, "loop_overhead", rows, vars(options))
    draw_bars(
        options.out / "loop_overhead.svg",
        {row["what"]: row["ms_per_turn"] for row in rows},
        x="ms of processor per turn",
    )


if __name__ == "__main__":
    main()
