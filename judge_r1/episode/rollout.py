"""From a pair to a rewarded trajectory: prompt, episode, search in the pair's own case, reward.

    runner = RolloutRunner(data, EpisodeConfig(), SafeTokenizer(tokenizer), EpisodeDriver(model), eos_ids)
    [trajectory] = runner.run([pair], Sampling(temperature=1.0, seed=0))
    trajectory.reward["r"]

The local judge, the evaluator and both training engines use these functions.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from judge_r1.core.errors import JudgeError
from judge_r1.core.progress import show_progress
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import Evidence, Judgment
from judge_r1.episode.answer_text import after_thoughts, answer_text
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.driver import EpisodeRunner
from judge_r1.episode.located_answer import parse_located
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import Rejected, parse_last_object, parse_strict, parse_table6, parse_tolerant
from judge_r1.episode.prompts import CHAIN_OF_THOUGHT, CONVERSATIONS, DIRECT, TABLE6, Prompt, is_file, pairwise_prompt
from judge_r1.episode.reward import with_reward
from judge_r1.episode.task import PairwiseTask, pairwise_task
from judge_r1.episode.tokenizer import SafeTokenizer, stored_lengths
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import Sampling

Parser = Callable[[str], Judgment | Rejected]
TAGLESS_PARSERS: Mapping[str, Parser] = {
    TABLE6: parse_table6, DIRECT: parse_last_object, CHAIN_OF_THOUGHT: parse_last_object,
}  # fmt: skip
"""Parsers of the prompt styles whose answer has no tags, for rewards. They are strict: a policy learns the form that it
is rewarded for."""
EVALUATION_PARSERS: Mapping[str, Parser] = {
    **TAGLESS_PARSERS, DIRECT: parse_tolerant, CHAIN_OF_THOUGHT: parse_tolerant,
}  # fmt: skip
"""The same for judges, which may be models that were never trained on the form."""


def parser_without_tags(style: str, parsers: Mapping[str, Parser]) -> Parser | None:
    """The parser of a style whose answer has no tags, None for other styles. Files of the user ask for JSON."""
    return parsers.get(DIRECT if is_file(style) else style)


class PromptTooLong(JudgeError):
    """A prompt of `tokens` tokens exceeds `limit`: the recipe's `prompt_tokens`, or the space that an episode leaves in
    the model's context. Prompts are never truncated."""

    def __init__(self, message: str, tokens: int, limit: int) -> None:
        super().__init__(message)
        self.tokens, self.limit = tokens, limit


def new_episode(
    pair: ReasoningPair,
    data: PairSet,
    config: EpisodeConfig,
    tokenizer: SafeTokenizer,
    eos_ids: Collection[int],
    *,
    seed: int = 0,
    prompt_ids: Sequence[int] | None = None,
) -> Episode:
    """A new episode for a pair. Pass `prompt_ids` from `pair_prompt_ids` to avoid encoding the prompt again."""
    task = pairwise_task(pair, data.case_of(pair))
    where = f"pair {pair.pair_id}"
    return task_episode(task, config, tokenizer, eos_ids, where=where, seed=seed, prompt_ids=prompt_ids)


def pair_prompt_ids(pair: ReasoningPair, data: PairSet, config: EpisodeConfig, tokenizer: SafeTokenizer) -> list[int]:
    """The token ids of a pair's prompt. All episodes of its group share them.

    Raises:
        PromptTooLong: The prompt has more than `config.prompt_tokens` tokens.
    """
    return task_prompt_ids(pairwise_task(pair, data.case_of(pair)), config, tokenizer, where=f"pair {pair.pair_id}")


def task_episode(
    task: PairwiseTask,
    config: EpisodeConfig,
    tokenizer: SafeTokenizer,
    eos_ids: Collection[int],
    *,
    where: str,
    seed: int = 0,
    prompt_ids: Sequence[int] | None = None,
    parsers: Mapping[str, Parser] | None = None,
) -> Episode:
    """A new episode for a task. `parsers` are those of the styles without tags, by default the ones of rewards."""
    ids = task_prompt_ids(task, config, tokenizer, where=where) if prompt_ids is None else prompt_ids
    budget = task_budget(task, config)
    parse = answer_parser(config.prompt)
    parse_bare = parser_without_tags(config.prompt, parsers or TAGLESS_PARSERS)
    bare_text = after_thoughts if parsers is None else answer_text
    return Episode(
        ids, budget, tokenizer, eos_ids=eos_ids, parse=parse, parse_bare=parse_bare, bare_text=bare_text, seed=seed
    )


def task_prompt_ids(task: PairwiseTask, config: EpisodeConfig, tokenizer: SafeTokenizer, *, where: str) -> list[int]:
    """The token ids of a task's prompt.

    Raises:
        PromptTooLong: The prompt has more than `config.prompt_tokens` tokens.
    """
    ids = tokenizer.prompt_ids(task_prompt(task, config), thinking=config.thinking)
    _check_length(len(ids), config, where)
    return ids


def task_prompt(task: PairwiseTask, config: EpisodeConfig) -> Prompt:
    """The prompt of a task under a configuration."""
    budget = task_budget(task, config)
    return pairwise_prompt(task, context=config.context, searches=budget.max_searches, style=config.prompt)


def _check_length(tokens: int, config: EpisodeConfig, where: str) -> None:
    if tokens > config.prompt_tokens:
        raise PromptTooLong(
            f"{where}: its prompt has {tokens} tokens, over prompt_tokens {config.prompt_tokens}; "
            "raise prompt_tokens or remove the pair (`judge-r1 validate --recipe` counts such pairs)",
            tokens,
            config.prompt_tokens,
        )


def task_budget(task: PairwiseTask, config: EpisodeConfig) -> Budget:
    """The budget of a task's episode. A task without a case has no searches: there is nothing to search in."""
    return config.effective_budget if task.case_id else config.effective_budget.model_copy(update={"max_searches": 0})


def answer_parser(style: str) -> Parser:
    """The parser of the text between the answer tags."""
    return parse_located if style == CONVERSATIONS else parse_strict


def check_prompts(data: PairSet, config: EpisodeConfig, tokenizer: SafeTokenizer, context_length: int | None) -> None:
    """Checks all prompts before a long run starts.

    Raises:
        PromptTooLong: A prompt has more than `prompt_tokens` tokens, or leaves no space for a full episode within
            `context_length`.
        BudgetTooSmall: The budget has no space for an observation.
    """
    Episode((), config.effective_budget, tokenizer)  # raises BudgetTooSmall
    needed = config.effective_budget.episode_tokens
    with show_progress("checking prompts", len(data.pairs)) as one_done:

        def prompts() -> Iterator[Prompt]:
            for pair in data.pairs:
                one_done()
                yield task_prompt(pairwise_task(pair, data.case_of(pair)), config)

        lengths = stored_lengths(prompts(), tokenizer, thinking=config.thinking)
    for pair_id, prompt in zip(data.ids, lengths, strict=True):
        _check_length(prompt, config, f"pair {pair_id}")
        if context_length and prompt + needed > context_length:
            raise PromptTooLong(
                f"pair {pair_id}: its prompt of {prompt} tokens and an episode of up to {needed} tokens exceed "
                f"the model's context length of {context_length}: lower the budget, or remove the pair",
                prompt,
                context_length - needed,
            )


class StageTimer:
    """Accumulates exclusive wall time per stage: the time of a nested stage does not count for the outer one."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        self._inside.append(0.0)
        try:
            yield
        finally:
            total = time.perf_counter() - started
            self._seconds[name] += total - self._inside.pop()
            if self._inside:
                self._inside[-1] += total

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name] += seconds

    def pop(self) -> dict[str, float]:
        """The seconds of each stage since the last call."""
        seconds = dict(self._seconds)
        self._seconds.clear()
        return seconds


class RolloutRunner:
    """Runs episodes of pairs with one backend, retriever and tokenizer, under one configuration. `timer` measures
    the stages `generation` and `search`."""

    def __init__(
        self,
        data: PairSet,
        config: EpisodeConfig,
        tokenizer: SafeTokenizer,
        backend: EpisodeRunner,
        eos_ids: Collection[int],
        *,
        timer: StageTimer | None = None,
    ) -> None:
        self.data, self.config, self.tokenizer, self.backend, self.eos_ids = data, config, tokenizer, backend, eos_ids
        self._searcher = CaseSearcher(data.texts, config)
        self.timer = timer or StageTimer()

    def run(self, pairs: Sequence[ReasoningPair], sampling: Sampling) -> list[Trajectory]:
        """One rewarded trajectory for each pair, in order. A pair that occurs several times gets different seeds."""
        samples: Counter[str] = Counter()
        prompts: dict[str, list[int]] = {}  # encoded once for all episodes of a pair
        episodes = []
        for pair in pairs:
            seed = episode_seed(sampling.seed, pair.pair_id, samples[pair.pair_id])
            samples[pair.pair_id] += 1
            if pair.pair_id not in prompts:
                prompts[pair.pair_id] = pair_prompt_ids(pair, self.data, self.config, self.tokenizer)
            ids = prompts[pair.pair_id]
            episodes.append(
                new_episode(pair, self.data, self.config, self.tokenizer, self.eos_ids, seed=seed, prompt_ids=ids)
            )
        search = self._searcher.of_cases([pair.case_id for pair in pairs])

        def timed_search(queries: Sequence[tuple[int, str]]) -> list[list[Evidence]]:
            with self.timer.stage("search"):
                return search(queries)

        with self.timer.stage("generation"):
            self.backend.run_episodes(episodes, timed_search, sampling.temperature)
        return [with_reward(episode.trajectory(), pair) for episode, pair in zip(episodes, pairs, strict=True)]


def episode_seed(seed: int, item_id: str, sample: int, order: Sequence[int] = (0, 1)) -> int:
    """The sampling seed of an episode. It does not depend on other episodes of the run, so a resumed run and one with
    another batch size sample the same texts."""
    # The stored order adds nothing: training, which has no orders, draws the same seeds.
    swapped = [] if tuple(order) == (0, 1) else [list(order)]
    return int(content_hash("episode", seed, item_id, sample, *swapped), 16)
