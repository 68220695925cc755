"""Reads a file of rationales: whole trajectories, one per line, which serve any model.

`train` replays them with its own tokenizer and budgets, and uses those that are valid there and score r = 1.0.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.core.records import Case, ReasoningPair, Trajectory
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import tool_result
from judge_r1.episode.machine import Call, Search
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import PromptTooLong, new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.jsonl import BadRecord, read_jsonl
from judge_r1.files.pair_set import PairSet


class StoredRationale(Record):
    """The rationale of one pair, and the teacher that wrote it."""

    pair_id: NonEmpty
    teacher: NonEmpty
    trajectory: Trajectory


def stored_rationales(
    path: Path,
    data: PairSet,
    config: EpisodeConfig,
    tokenizer: SafeTokenizer,
    *,
    wanted: int | None,
    rejected: Counter[str],
) -> Iterator[Trajectory]:
    """The first `wanted` rationales of a file (all if None) that are valid under this configuration. Rejected ones are
    counted by reason, also those of pairs that the data does not hold, since a file may serve several splits.

    Raises: BadRecord for a passage that is not from its pair's case.
    """
    return islice(_good(path, data, config, tokenizer, rejected), wanted)


def replay(
    stored: Trajectory, pair: ReasoningPair, data: PairSet, config: EpisodeConfig, tokenizer: SafeTokenizer
) -> Trajectory:
    """Replays a stored trajectory under another tokenizer or budget."""
    episode = new_episode(pair, data, config, tokenizer, ())
    for turn in stored.turns:
        ids = tokenizer.encode_policy_text(turn.text.removeprefix("<think>") if episode.thinking else turn.text)
        episode.feed(ids, [0.0] * len(ids))
        if isinstance(episode.state, Search):
            episode.observe(turn.passages)
        elif isinstance(episode.state, Call):
            episode.observe_result(tool_result(episode))
        else:
            break
    return with_reward(episode.trajectory(), pair)


def _good(
    path: Path, data: PairSet, config: EpisodeConfig, tokenizer: SafeTokenizer, rejected: Counter[str]
) -> Iterator[Trajectory]:
    pairs = data.by_id()
    for stored in read_jsonl(path, StoredRationale, unique="pair_id"):
        if (pair := pairs.get(stored.pair_id)) is None:
            rejected["not a pair of this data"] += 1
            continue
        _check_passages(stored, data.case_of(pair), path)
        try:
            trajectory = replay(stored.trajectory, pair, data, config, tokenizer)
        except PromptTooLong:
            rejected["prompt_too_long"] += 1
            continue
        if any(turn.notice for turn in trajectory.turns):
            rejected["search_refused"] += 1
        elif trajectory.reward is None or trajectory.reward["r"] != 1.0:
            rejected[trajectory.ended] += 1
        else:
            yield trajectory


def _check_passages(stored: StoredRationale, case: Case, path: Path) -> None:
    """Raises: BadRecord for a passage of another case, so that no file can break isolation."""
    for passage in (passage for turn in stored.trajectory.turns for passage in turn.passages):
        if passage.case_id != case.case_id or case.context[passage.start : passage.end] != passage.text:
            raise BadRecord(
                f"{path}: the rationale of pair {stored.pair_id} shows a passage that is not in its case "
                f"{case.case_id}: write the file again from these pairs"
            )
