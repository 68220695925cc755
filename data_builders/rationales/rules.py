"""Rationales for the SFT warm-up: whole episodes with real search results, written by rules that know the gold.

Each one is run through the episode state machine and rejected unless it is valid and its comparison right. Its answer
is the gold one, unless the writer gave another.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from data_builders.rationales import WRITERS, Writer, writer_for
from data_builders.rationales.store import stored_rationales
from judge_r1.core.progress import show_progress
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import tool_result
from judge_r1.episode.machine import Call, Episode, Finished, Search
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import PromptTooLong, new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.training.data.targets import answer
from judge_r1.training.recipe import Recipe


def answer_text(pair: ReasoningPair) -> str:
    """The gold judgment in the output contract."""
    return answer(pair.gold, "json")


def gold_rationale(
    pair: ReasoningPair,
    data: PairSet,
    config: EpisodeConfig,
    tokenizer: SafeTokenizer,
    searcher: CaseSearcher,
    writer: Writer | None = None,
) -> Trajectory:
    """The rationale of a pair, run through the state machine. The episode is invalid if a budget is exceeded or the
    writer gives up."""
    case = data.case_of(pair)
    rationale = (writer or writer_for(case))(case, pair, config)
    episode = new_episode(pair, data, config, tokenizer, ())
    gave_up = False
    try:
        first = next(rationale)
        _feed(episode, tokenizer, first.removeprefix("<think>") if episode.thinking else first)
        while isinstance(state := episode.state, Search | Call):
            if isinstance(state, Search):
                episode.observe(searcher.of_case(pair.case_id)(state.query))
            else:
                episode.observe_result(tool_result(episode))
            _feed(episode, tokenizer, rationale.send(episode.turns[-1].passages))
    except StopIteration:
        gave_up = True
    if not isinstance(episode.state, Finished):
        _feed(episode, tokenizer, answer_text(pair))
    trajectory = episode.trajectory()
    if gave_up:
        trajectory = _without_judgment(trajectory, "writer_gave_up")
    if any(turn.notice for turn in trajectory.turns):  # more searches than the budget allows
        trajectory = _without_judgment(trajectory, "search_refused")
    return with_reward(trajectory, pair)


def rationales(
    data: PairSet,
    config: EpisodeConfig,
    tokenizer: SafeTokenizer,
    *,
    rejected: Counter[str],
    writer: Writer | None = None,
) -> Iterator[tuple[ReasoningPair, Trajectory]]:
    """A rationale for every pair that fits the budgets; the others are counted by reason."""
    searcher = CaseSearcher(data.texts, config)
    for pair in data.pairs:
        try:
            trajectory = gold_rationale(pair, data, config, tokenizer, searcher, writer)
        except PromptTooLong:
            rejected["prompt_too_long"] += 1
            continue
        if trajectory.reward is None or trajectory.reward["R1"] != 2.0:
            rejected[trajectory.ended] += 1
        else:
            yield pair, trajectory


def recipe_rationales(recipe: Recipe, data: PairSet, tokenizer: SafeTokenizer) -> tuple[list[Trajectory], Counter[str]]:
    """The `sft.examples` rationales that a recipe trains on, and the number of rejected ones by reason.

    They come from `sft.rationales_file`, or are written by rules in an order given by the seed.
    """
    rejected: Counter[str] = Counter()
    if file := recipe.sft.rationales_file:
        limit = recipe.sft.examples
        return list(stored_rationales(file, data, recipe.episode, tokenizer, wanted=limit, rejected=rejected)), rejected
    shuffled = sorted(data.ids, key=lambda pair_id: content_hash("order", pair_id, recipe.seed))
    writer = WRITERS.get(recipe.sft.rationales) if recipe.sft.rationales else None
    found = rationales(data.of_ids(shuffled), recipe.episode, tokenizer, rejected=rejected, writer=writer)
    wanted = recipe.sft.examples or len(shuffled)
    written: list[Trajectory] = []
    with show_progress("writing rationales", wanted) as one_done:
        for _, trajectory in islice(found, wanted):
            written.append(trajectory)
            one_done()
    return written, rejected


def _without_judgment(trajectory: Trajectory, ended: str) -> Trajectory:
    return trajectory.model_copy(update={"judgment": None, "ended": ended})


def _feed(episode: Episode, tokenizer: SafeTokenizer, text: str) -> None:
    """Write as far as the budgets allow; a rationale that does not fit ends as an invalid episode."""
    ids = tokenizer.encode_policy_text(text)
    episode.feed(ids, [0.0] * len(ids))
