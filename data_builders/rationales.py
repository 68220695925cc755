"""Rationale traces for the SFT warm-up: whole episodes with real search results, written by rules that know the gold.

A writer is a generator: it yields what the judge writes up to a search and is sent the passages that came back. Each
trace runs through the real episode machine and is rejected unless it is accepted and its answer scores r = 1.0.
"""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice

from rich.progress import track

from data_builders.rationale_mini import write_mini
from data_builders.rationale_text import write_text
from data_builders.sources import SOURCES
from judge_r1.config import EpisodeConfig, Recipe
from judge_r1.episode import Episode, Finished, Search
from judge_r1.pairs import PairSet
from judge_r1.play import PromptTooLong, case_search, new_episode, new_retriever
from judge_r1.records import Case, Evidence, ReasoningPair, Trajectory, content_hash
from judge_r1.reward import rewarded
from judge_r1.tokens import Codec
from retrieval.retriever import Retriever

Rationale = Generator[str, Sequence[Evidence], None]
Writer = Callable[[Case, ReasoningPair, EpisodeConfig], Rationale]
"""(case, pair, episode configuration) -> what the judge thinks and searches, without the answer."""

WRITERS: dict[str, Writer] = {"mini": write_mini, "text": write_text}


def answer_text(pair: ReasoningPair) -> str:
    """The gold judgment in the output contract."""
    gold = {"comparison": pair.gold.comparison, "violated_principles": list(pair.violated)}
    return f"<answer>{json.dumps(gold)}</answer>"


def writer_for(case: Case) -> Writer:
    """The writer that fits the texts of a case's source; prose where the source is not one of ours."""
    rule_set = SOURCES.get(case.source).operators if case.source in SOURCES.names() else "text"
    return WRITERS[rule_set]


def gold_trace(
    pair: ReasoningPair,
    data: PairSet,
    config: EpisodeConfig,
    codec: Codec,
    retriever: Retriever,
) -> Trajectory:
    """The rationale of a pair, played through the episode machine; it ends invalid where a budget does not hold it."""
    case = data.case_of(pair)
    rationale = writer_for(case)(case, pair, config)
    episode = new_episode(pair, data, config, codec, ())
    written = next(rationale, None)
    while written is not None:
        _feed(episode, codec, written)
        if not isinstance(episode.state, Search):
            break
        passages = case_search(retriever, pair.case_id, episode.state.query, config.budget.top_k)
        episode.observe(passages)
        try:
            written = rationale.send(passages)
        except StopIteration:
            written = None
    if not isinstance(episode.state, Finished):
        _feed(episode, codec, answer_text(pair))
    trajectory = episode.trajectory()
    if any(turn.notice for turn in trajectory.turns):  # the rules had more to look up than the budget allows
        trajectory = trajectory.model_copy(update={"judgment": None, "ended": "search_refused"})
    return rewarded(trajectory, pair)


def traces(
    data: PairSet, config: EpisodeConfig, codec: Codec, *, rejected: Counter[str]
) -> Iterator[tuple[ReasoningPair, Trajectory]]:
    """A gold trace for every pair that the budgets hold; the others are counted by reason."""
    retriever = new_retriever(data, config)
    for pair in data.pairs:
        try:
            trajectory = gold_trace(pair, data, config, codec, retriever)
        except PromptTooLong:
            rejected["prompt_too_long"] += 1
            continue
        if trajectory.reward is None or trajectory.reward["r"] != 1.0:
            rejected[trajectory.ended] += 1
        else:
            yield pair, trajectory


def warmup_traces(data: PairSet, recipe: Recipe, codec: Codec) -> tuple[list[Trajectory], Counter[str]]:
    """The traces a recipe trains on (`sft.traces` of them, in an order that the seed decides), and the rejections."""
    rejected: Counter[str] = Counter()
    shuffled = sorted(data.pairs, key=lambda pair: content_hash("order", pair.pair_id, recipe.seed))
    found = traces(PairSet(data.cases, shuffled), recipe.episode, codec, rejected=rejected)
    wanted = recipe.sft.traces or len(shuffled)
    some = track(islice(found, wanted), total=wanted, description="writing rationales", transient=True)
    return [trajectory for _, trajectory in some], rejected


def _feed(episode: Episode, codec: Codec, text: str) -> None:
    """Write as far as the budgets allow; a trace that does not fit ends as an invalid episode."""
    ids = codec.encode_written(text)
    episode.feed(ids, [0.0] * len(ids))
