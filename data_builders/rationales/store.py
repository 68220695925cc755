"""Rationales as a file: whole trajectories, one a line, paid for once and good for any model.

What counts is the text of the turns and the passages between them. `train` plays both through the episode machine
again, with its own tokenizer and budgets, and takes what is accepted there and scores r = 1.0.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from judge_r1.core.jsonl import BadRecord, read_jsonl
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import Case, NonEmpty, ReasoningPair, Record, Trajectory
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.machine import Search
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import PromptTooLong, new_episode
from judge_r1.episode.tokenizer import SafeTokenizer


class StoredTrace(Record):
    """The rationale of one pair, and who wrote it."""

    pair_id: NonEmpty
    teacher: NonEmpty
    trajectory: Trajectory


def stored_traces(
    path: Path,
    data: PairSet,
    config: EpisodeConfig,
    codec: SafeTokenizer,
    *,
    wanted: int | None,
    rejected: Counter[str],
) -> Iterator[Trajectory]:
    """The first `wanted` traces of a file (all of them where it is None) that hold under this configuration; the others
    before them are counted by reason.

    Errors: BadRecord for a passage that is not of its pair's case. Traces of pairs that the data does not hold are
    counted, too: a file may serve several splits.
    """
    return islice(_good(path, data, config, codec, rejected), wanted)


def replay(
    stored: Trajectory, pair: ReasoningPair, data: PairSet, config: EpisodeConfig, codec: SafeTokenizer
) -> Trajectory:
    """A stored trajectory, written and shown again under another tokenizer or budget."""
    episode = new_episode(pair, data, config, codec, ())
    for turn in stored.turns:
        ids = codec.encode_policy_text(turn.text.removeprefix("<think>") if episode.thinking else turn.text)
        episode.feed(ids, [0.0] * len(ids))
        if not isinstance(episode.state, Search):
            break
        episode.observe(turn.passages)
    return with_reward(episode.trajectory(), pair)


def _good(
    path: Path, data: PairSet, config: EpisodeConfig, codec: SafeTokenizer, rejected: Counter[str]
) -> Iterator[Trajectory]:
    pairs = data.by_id()
    for stored in read_jsonl(path, StoredTrace, unique="pair_id"):
        if (pair := pairs.get(stored.pair_id)) is None:
            rejected["not a pair of this data"] += 1
            continue
        _check_passages(stored, data.case_of(pair), path)
        try:
            trajectory = replay(stored.trajectory, pair, data, config, codec)
        except PromptTooLong:
            rejected["prompt_too_long"] += 1
            continue
        if any(turn.notice for turn in trajectory.turns):
            rejected["search_refused"] += 1
        elif trajectory.reward is None or trajectory.reward["r"] != 1.0:
            rejected[trajectory.ended] += 1
        else:
            yield trajectory


def _check_passages(stored: StoredTrace, case: Case, path: Path) -> None:
    """Errors: BadRecord. Whatever else a file says, no episode shows text of another case."""
    for passage in (passage for turn in stored.trajectory.turns for passage in turn.passages):
        if passage.case_id != case.case_id or case.context[passage.start : passage.end] != passage.text:
            raise BadRecord(
                f"{path}: the trace of pair {stored.pair_id} shows a passage that is not in its case {case.case_id}: "
                "write the file again from these pairs"
            )
