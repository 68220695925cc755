"""From a pair to a rewarded trajectory: prompt, episode, search in the pair's own case, reward.

    runner = RolloutRunner(data, EpisodeConfig(), SafeTokenizer(tokenizer), EpisodeDriver(model), eos_ids)
    [trajectory] = runner.run([pair], Sampling(temperature=1.0, seed=0))
    trajectory.reward["r"]

The local judge, the evaluator and both training engines use these functions.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial

from judge_r1.core.errors import JudgeError
from judge_r1.core.progress import StageTimer, show_progress
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Evidence, Judgment
from judge_r1.episode.answer_text import after_thoughts, answer_text
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.driver import EpisodeRunner
from judge_r1.episode.located_answer import parse_located
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import (
    Rejected,
    parse_best,
    parse_last_object,
    parse_score,
    parse_strict,
    parse_table6,
    parse_tolerant,
)
from judge_r1.episode.prompts import CHAIN_OF_THOUGHT, CONVERSATIONS, DIRECT, TABLE6, Prompt, is_file, pairwise_prompt
from judge_r1.episode.questions import Question, placement, rewarded, task_of
from judge_r1.episode.task import PairwiseTask
from judge_r1.episode.tokenizer import SafeTokenizer, stored_lengths
from judge_r1.episode.tools.base import CaseScope
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
    pair: Question,
    data: PairSet,
    config: EpisodeConfig,
    tokenizer: SafeTokenizer,
    eos_ids: Collection[int],
    *,
    seed: int = 0,
    prompt_ids: Sequence[int] | None = None,
) -> Episode:
    """A new episode for a pair. Pass `prompt_ids` from `pair_prompt_ids` to avoid encoding the prompt again."""
    task = task_of(pair, data)
    where = f"pair {pair.pair_id}"
    return task_episode(task, config, tokenizer, eos_ids, where=where, seed=seed, prompt_ids=prompt_ids)


def pair_prompt_ids(pair: Question, data: PairSet, config: EpisodeConfig, tokenizer: SafeTokenizer) -> list[int]:
    """The token ids of a pair's prompt. All episodes of its group share them.

    Raises:
        PromptTooLong: The prompt has more than `config.prompt_tokens` tokens.
    """
    return task_prompt_ids(task_of(pair, data), config, tokenizer, where=f"pair {pair.pair_id}")


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
    text: str = "",
) -> Episode:
    """A new episode for a task. `parsers` are those of the styles without tags, by default the ones of rewards. `text`
    is that of the case, for a task that does not show it."""
    ids = task_prompt_ids(task, config, tokenizer, where=where) if prompt_ids is None else prompt_ids
    budget = task_budget(task, config)
    parse = answer_parser(config.prompt, task)
    parse_bare = parser_without_tags(config.prompt, parsers or TAGLESS_PARSERS)
    bare_text = after_thoughts if parsers is None else answer_text
    return Episode(
        ids, budget, tokenizer, eos_ids=eos_ids, parse=parse, parse_bare=parse_bare, bare_text=bare_text, seed=seed,
        scope=task_scope(task, text),
    )  # fmt: skip


def task_scope(task: PairwiseTask, text: str = "") -> CaseScope:
    """What the tools of a task's episode may see: its own case."""
    return CaseScope(task.case_id or "", task.context or text, dict(task.documents))


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
    return pairwise_prompt(
        task, context=config.context, searches=budget.max_searches, style=config.prompt, tools=config.tools
    )


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


def answer_parser(style: str, task: PairwiseTask | None = None) -> Parser:
    """The parser of the text between the answer tags, of a pair or of the task's candidates."""
    if task is not None and task.form == "score":
        return parse_score
    if task is not None and task.form == "list":
        return partial(parse_best, count=len(task.candidates))
    return parse_located if style == CONVERSATIONS else parse_strict


def check_prompts(
    data: PairSet,
    config: EpisodeConfig,
    tokenizer: SafeTokenizer,
    context_length: int | None,
    questions: Sequence[Question] | None = None,
) -> None:
    """Checks all prompts before a long run starts: of the pairs, or of other questions about them.

    Raises:
        PromptTooLong: A prompt has more than `prompt_tokens` tokens, or leaves no space for a full episode within
            `context_length`.
        BudgetTooSmall: The budget has no space for an observation.
    """
    Episode((), config.effective_budget, tokenizer)  # raises BudgetTooSmall
    needed = config.effective_budget.episode_tokens
    asked: Sequence[Question] = data.pairs if questions is None else questions
    ids = data.ids if questions is None else [question.pair_id for question in questions]
    with show_progress("checking prompts", len(asked)) as one_done:

        def prompts() -> Iterator[Prompt]:
            for question in asked:
                one_done()
                yield task_prompt(task_of(question, data), config)

        lengths = stored_lengths(prompts(), tokenizer, thinking=config.thinking)
    for pair_id, prompt in zip(ids, lengths, strict=True):
        _check_length(prompt, config, f"pair {pair_id}")
        if context_length and prompt + needed > context_length:
            raise PromptTooLong(
                f"pair {pair_id}: its prompt of {prompt} tokens and an episode of up to {needed} tokens exceed "
                f"the model's context length of {context_length}: lower the budget, or remove the pair",
                prompt,
                context_length - needed,
            )


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

    def run(self, pairs: Sequence[Question], sampling: Sampling) -> list[Trajectory]:
        """One rewarded trajectory for each pair, in order (of a `ScoreQuestion` without its reward, which takes two).
        A pair that occurs several times gets different seeds."""
        samples: Counter[str] = Counter()
        # Encoded once for all episodes of a pair that show its candidates in one order.
        prompts: dict[tuple[str, Hashable], list[int]] = {}
        episodes = []
        for pair in pairs:
            seed = episode_seed(sampling.seed, pair.pair_id, samples[pair.pair_id])
            samples[pair.pair_id] += 1
            shown = pair.pair_id, placement(pair)
            if shown not in prompts:
                prompts[shown] = pair_prompt_ids(pair, self.data, self.config, self.tokenizer)
            ids = prompts[shown]
            episodes.append(
                new_episode(pair, self.data, self.config, self.tokenizer, self.eos_ids, seed=seed, prompt_ids=ids)
            )
        search = self._searcher.of_cases([pair.case_id for pair in pairs])

        def timed_search(queries: Sequence[tuple[int, str]]) -> list[list[Evidence]]:
            with self.timer.stage("search"):
                return search(queries)

        with self.timer.stage("generation"):
            self.backend.run_episodes(episodes, timed_search, sampling.temperature)
        return [rewarded(episode.trajectory(), pair) for episode, pair in zip(episodes, pairs, strict=True)]


def episode_seed(seed: int, item_id: str, sample: int, order: Sequence[int] = (0, 1)) -> int:
    """The sampling seed of an episode. It does not depend on other episodes of the run, so a resumed run and one with
    another batch size sample the same texts."""
    # The stored order adds nothing: training, which has no orders, draws the same seeds.
    swapped = [] if tuple(order) == (0, 1) else [list(order)]
    return int(content_hash("episode", seed, item_id, sample, *swapped), 16)
