"""Episodes as texts, for environments of other trainers. Actions are written into the state machine as text, so its
budgets, notices, strict parser and reward are those of our drivers, and a search sees the case of its pair alone.

There are two forms. *Tags*: the model writes the grammar of the episode, and the trainer samples up to a closing tag
(`stop_strings`). *Tools*: the model calls `search` and `submit`, with `episode.tools` also `call_tool`, and the prompt
shows no tags.
"""

import asyncio
from collections import OrderedDict
from functools import cache
from pathlib import Path
from threading import Lock

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.chat_driver import EOS, TextTokenizer, chat_budget
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import CaseSearch, act_into
from judge_r1.episode.machine import Episode, Finished, Sample
from judge_r1.episode.parsing import parse_strict
from judge_r1.episode.prompts import DIRECT, judge_prompt
from judge_r1.episode.reward import round_reward, with_reward
from judge_r1.episode.rollout import TAGLESS_PARSERS, answer_parser, parser_without_tags, task_prompt, task_scope
from judge_r1.episode.tags import grammar
from judge_r1.episode.task import pairwise_task
from judge_r1.episode.tools.base import TOOLS
from judge_r1.files.pair_set import PairSet, open_pairs

OVER = "the episode is over"
HOW = (
    "\n\nCall the tool `search` to read passages of the case; at most {searches} searches are answered. "
    "Then call the tool `submit` once, with the JSON object as its argument."
)
CALL_TOOL = "Call a tool. `name` is its name, and `text` is its input: {tools}."
SESSIONS = 10_000


class SearchFailed(JudgeError):
    """A search had no answer. The episode has no reward: it says nothing about the judge."""


class TextEpisode:
    """One episode. Its actions run one after another, also if a model calls tools in parallel."""

    def __init__(self, pair: ReasoningPair, episode: Episode, search: CaseSearch) -> None:
        self.pair, self.machine, self._search = pair, episode, search
        self._lock = asyncio.Lock()

    @property
    def over(self) -> bool:
        return isinstance(self.machine.state, Finished)

    async def search(self, query: str) -> str:
        """The tool `search`: returns passages or a notice."""
        return await self.write(f"<search>{query}</search>") or OVER

    async def call_tool(self, name: str, text: str) -> str:
        """The tool `call_tool`, if the episode has tools: returns a result or a notice."""
        return await self.write(f"<tool>{name}\n{text}</tool>") or OVER

    async def submit(self, judgment: str) -> str:
        """The tool `submit`: ends the episode."""
        return await self.write(f"<answer>{judgment}</answer>") or OVER

    async def write(self, text: str) -> str | None:
        """Write one sample of the model. Returns what it reads next; None if the episode is over, or if the sample
        stopped at a closing tag that completes no action (inside an open thought): sampling then continues."""
        async with self._lock:
            machine, turns = self.machine, len(self.machine.turns)
            if not isinstance(machine.state, Sample):
                return None
            assert isinstance(machine.tokenizer, TextTokenizer)
            ids = machine.tokenizer.encode_reply(_valid(text))
            machine.feed(ids, [0.0] * len(ids))
            # The model ended the sample, or the trainer's stop string cut it. Only the first is an EOS.
            stopped = bool(machine.stop_strings) and text.endswith(machine.stop_strings)
            if isinstance(machine.state, Sample) and len(machine.turns) == turns and not stopped:
                machine.feed([EOS], [0.0])
            await act_into(machine, self._search)
            return None if self.over or len(machine.turns) == turns else machine.turns[-1].observation

    def reward(self) -> dict[str, float]:
        """As `reward_of`."""
        return reward_of(self.machine, self.pair)


class TextEpisodes:
    """Starts episodes about the pairs of a data set. All share one index of its cases."""

    def __init__(self, data: PairSet, config: EpisodeConfig | None = None) -> None:
        self.data, self.config = data, config or EpisodeConfig()
        self._pairs, self._searcher = data.by_id(), CaseSearcher(data.texts, self.config)

    def pair(self, pair_id: str) -> ReasoningPair:
        """Raises: JudgeError for an unknown pair."""
        if (pair := self._pairs.get(pair_id)) is None:
            raise JudgeError(f"there is no pair {pair_id!r}: make the rows from the pairs of the environment")
        return pair

    def search_of(self, pair: ReasoningPair) -> CaseSearch:
        """The search in the case of a pair."""
        return self._searcher.of_case(pair.case_id)

    def start(self, pair_id: str, *, tools: bool) -> TextEpisode:
        """A new episode, in the form of tools or of tags. Raises: JudgeError for an unknown pair."""
        pair = self.pair(pair_id)
        style = self.config.prompt
        parse = parse_strict if tools else answer_parser(style)
        bare = None if tools else parser_without_tags(style, TAGLESS_PARSERS)
        budget = chat_budget(self.config.effective_budget)
        tokenizer = TextTokenizer(grammar(tools=bool(self.config.tools)))
        scope = task_scope(pairwise_task(pair, self.data.case_of(pair)))
        machine = Episode((), budget, tokenizer, eos_ids=(EOS,), parse=parse, parse_bare=bare, scope=scope)
        return TextEpisode(pair, machine, self.search_of(pair))


def reward_of(machine: Episode, pair: ReasoningPair) -> dict[str, float]:
    """`r` of the paper and its parts; r = 0 without a valid judgment. Raises: SearchFailed."""
    trajectory = with_reward(machine.trajectory(), pair)
    if trajectory.infrastructure_failed:
        raise SearchFailed(f"pair {pair.pair_id}: {trajectory.ended}; run the episode again")
    parts = dict(trajectory.reward or {})
    return parts | {"r": round_reward(parts["r"])}


def tag_prompt(pair: ReasoningPair, data: PairSet, config: EpisodeConfig) -> list[dict[str, str]]:
    """The messages that begin an episode in the form of tags."""
    return task_prompt(pairwise_task(pair, data.case_of(pair)), config).chat()


def tool_prompt(pair: ReasoningPair, data: PairSet, config: EpisodeConfig) -> list[dict[str, str]]:
    """The messages that begin an episode in the form of tools, without `how_to_call`."""
    return judge_prompt(pair, data.case_of(pair), context=config.context, searches=0, style=DIRECT).chat()


def how_to_call(config: EpisodeConfig) -> str:
    """The end of the prompt in the form of tools."""
    how = HOW.format(searches=config.effective_budget.max_searches)
    return f"{how} Before that you may use `call_tool`. {how_to_use(config)}" if config.tools else how


def how_to_use(config: EpisodeConfig) -> str:
    """The description of `call_tool`: the tools of the episode."""
    described = (f"{name} {TOOLS.get(name).help} ({tool.max_calls} calls)" for name, tool in config.tools.items())
    return CALL_TOOL.format(tools="; ".join(described))


def _valid(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which arguments in JSON may hold. No search and no record
    can encode one, and its error would spare the model the reward of its episode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Sessions:
    """Episodes by session, for servers of tools. Beyond `limit`, the least recently used session is dropped."""

    def __init__(self, episodes: TextEpisodes, limit: int = SESSIONS) -> None:
        self.episodes, self._limit = episodes, limit
        self._open: OrderedDict[str, TextEpisode] = OrderedDict()

    def open(self, session: str, pair_id: str) -> TextEpisode:
        """The episode of a session, which starts if there is none."""
        if session not in self._open:
            self._open[session] = self.episodes.start(pair_id, tools=True)
        self._open.move_to_end(session)
        while len(self._open) > self._limit:
            self._open.popitem(last=False)
        return self._open[session]

    def get(self, session: str) -> TextEpisode | None:
        """The episode of a session; None if there is none."""
        if session in self._open:
            self._open.move_to_end(session)
        return self._open.get(session)

    def close(self, session: str) -> None:
        self._open.pop(session, None)


def shared_episodes(folder: str, config: EpisodeConfig) -> TextEpisodes:
    """The episodes of a data folder, which this process opens once. Raises: JudgeError."""
    # `cache` alone calls the function once for each thread that comes before the first result.
    with _opening:
        return _shared(str(Path(folder).resolve()), config.model_dump_json())


_opening = Lock()


@cache
def _shared(folder: str, config: str) -> TextEpisodes:
    return TextEpisodes(open_pairs(Path(folder)), EpisodeConfig.model_validate_json(config))
