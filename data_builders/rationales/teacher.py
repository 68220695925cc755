"""Rationale enhancement (LRBench, section 3.3): a teacher writes full rationales for gold judgments, for the warm-up.

The teacher writes turn by turn in a real episode with the real retriever. Without search the rationale is one turn. A
turn that `turn_parser` rejects is requested again with the reason, and so is a last turn of which a second call, which
does not know the outcome, says that the conclusion does not follow from what the rationale quotes. A rationale is
accepted only if the state machine accepts it and its answer scores r = 1.0.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from data_builders.prompts import shared_beginning
from data_builders.prompts.rationale import check_prompt, may_answer, rationale_prompts_hash, turn_prompt
from data_builders.rationales.turn_parser import ParsedTurn, RejectedTurn, read_turn, thoughts_of
from data_builders.teachers import REFUSED, Attempts, Teacher, TeacherRefused, TeacherReply, TeacherRequest
from data_builders.text_units.steps import sentences
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, ReasoningPair, Trajectory
from judge_r1.episode.answer_form import AnswerForm, ModelWriter
from judge_r1.episode.answer_text import split_hidden_thought
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import run_to_end
from judge_r1.episode.machine import Episode, Sample
from judge_r1.episode.prompts import judge_prompt
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import PromptTooLong, new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet

TRIES = 3
"""How often a turn is requested: once, and twice more with the reason why it was rejected."""
NOT_FOLLOWING, UNREADABLE = "the conclusion does not follow", "the check has no readable answer"
NOT_SETTLED = "the teacher finds that nothing settles it"
_NO_RATIONALE = re.compile(r"\W*NO RATIONALE\b")
_FOLLOWS = re.compile(r"^[\W_]*Follows[*_]*\s*:[\s*_]*(yes|no)\b", re.IGNORECASE | re.MULTILINE)
_WHY = re.compile(r"^[\W_]*Why[*_]*\s*:[ \t*_]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_WORDS_PER_TOKEN, _THOUGHT_TOKENS = 0.6, 2_000
_ACTION_TOKENS, _MIN_THOUGHT_TOKENS, _CHECK_TOKENS = 60, 16, 100
_JUDGMENTS = [
    f'{{"comparison": "A{sign}B", "violated_principles": {list(violated)}}}'
    for sign in "<>"
    for size in NUMBERS
    for violated in combinations(NUMBERS, size)
]
"""The answers that a local model may give."""


@dataclass
class RationaleStats:
    """Counts of pairs, turns and tokens: sums, which do not depend on the order in which pairs finish."""

    accepted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    attempts: Attempts = field(default_factory=Attempts)
    notes: Counter[str] = field(default_factory=Counter)
    searches: Counter[int] = field(default_factory=Counter)
    by_domain: Counter[str] = field(default_factory=Counter)
    by_principle: Counter[int] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, pair: ReasoningPair, trajectory: Trajectory) -> None:
        """Count an accepted rationale."""
        self.accepted += 1
        self.searches[trajectory.searches] += 1
        self.by_domain[pair.domain] += 1
        self.by_principle.update(pair.violated)

    def as_dict(self) -> dict[str, Any]:
        counters: dict[str, Counter[Any]] = {
            "rejected": self.rejected, "turns_rejected": self.attempts.rejected, "notes": self.notes,
            "searches": self.searches, "by_domain": self.by_domain, "by_principle": self.by_principle,
        }  # fmt: skip
        return {
            "prompts": rationale_prompts_hash(),
            "accepted": self.accepted,
            "answers": self.attempts.answers,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            **{name: {str(k): n for k, n in sorted(counts.items())} for name, counts in counters.items()},
        }


@dataclass(frozen=True)
class Setting:
    """The data, models and statistics that all rationales of a run share."""

    data: PairSet
    config: EpisodeConfig
    tokenizer: SafeTokenizer
    searcher: CaseSearcher
    teacher: Teacher
    stats: RationaleStats


class _GaveUp(Exception):
    """A pair gets no rationale. The message is the reason under which it is counted."""


async def write_rationale(pair: ReasoningPair, setting: Setting) -> Trajectory | None:
    """The rationale of a pair, or None, counted by reason. Raises: errors of the teacher except TeacherRefused."""
    try:
        trajectory = await _run_episode(pair, setting)
    except PromptTooLong:
        setting.stats.rejected["prompt_too_long"] += 1
    except TeacherRefused:
        setting.stats.rejected[REFUSED] += 1
    except _GaveUp as reason:
        setting.stats.rejected[str(reason)] += 1
    else:
        if trajectory.reward is not None and trajectory.reward["r"] == 1.0:
            return trajectory
        setting.stats.rejected[trajectory.ended] += 1
    return None


async def _run_episode(pair: ReasoningPair, setting: Setting) -> Trajectory:
    config, tokenizer = setting.config, setting.tokenizer
    episode = new_episode(pair, setting.data, config, tokenizer, ())

    async def write(max_tokens: int) -> None:
        turn = await _write_turn(pair, episode, max_tokens, setting)
        ids = _ids(tokenizer, episode, turn.text)
        episode.feed(ids, [0.0] * len(ids))
        if isinstance(episode.state, Sample):
            raise _GaveUp("the machine sees no action")

    async def search(query: str) -> None:
        episode.observe(await asyncio.to_thread(setting.searcher.of_case(pair.case_id), query))

    await run_to_end(episode, write, search)
    return with_reward(episode.trajectory(), pair)


async def _write_turn(pair: ReasoningPair, episode: Episode, max_tokens: int, setting: Setting) -> ParsedTurn:
    """The next turn, valid and short enough. Raises: _GaveUp after `TRIES` rejected turns."""
    case, config, stats = setting.data.case_of(pair), setting.config, setting.stats
    rejected, words = RejectedTurn("", ""), int(max_tokens * _WORDS_PER_TOKEN)
    shown, evidence = _shown(pair, episode, setting), _evidence(case, episode, config)
    may_search = config.effective_budget.max_searches > _searches(episode)
    form = turn_form(max_tokens, may_search=may_search, may_answer=may_answer(config, episode))
    for attempt in range(TRIES):
        system, user = turn_prompt(pair, case, config, episode, words=words, rejected=rejected.detail)
        reply = await _ask(setting, system, user, 2 * max_tokens + _THOUGHT_TOKENS, attempt, form)
        if _NO_RATIONALE.match(reply.answer):
            stats.attempts.used += 1
            raise _GaveUp(NOT_SETTLED)
        turn: ParsedTurn | RejectedTurn
        if not reply.finished:
            turn = RejectedTurn("cut", f"it was cut off: write at most {words} words.")
        else:
            turn = read_turn(
                split_hidden_thought(reply.text)[1],
                pair,
                evidence=evidence,
                may_search=may_search,
                may_answer=may_answer(config, episode),
                thoughts=[thought for turn in episode.turns for thought in thoughts_of(turn.text)],
                shown=shown,
            )
        if isinstance(turn, ParsedTurn) and len(_ids(setting.tokenizer, episode, turn.text)) > max_tokens:
            turn = RejectedTurn("too long", f"it is too long: write at most {words} words.")
        if isinstance(turn, ParsedTurn) and turn.query is None:
            turn = await _checked(turn, pair, episode, setting, attempt)
        if isinstance(turn, ParsedTurn):
            stats.notes["turns that ran on behind their action"] += turn.ran_on
            stats.attempts.used += 1
            return turn
        stats.attempts.reject(turn.reason, "a turn of a rationale", reply.answer)
        rejected = turn
    raise _GaveUp(rejected.reason)


async def _checked(
    turn: ParsedTurn, pair: ReasoningPair, episode: Episode, setting: Setting, attempt: int
) -> ParsedTurn | RejectedTurn:
    """The turn with the answer, if a second call finds that its conclusion follows from what the episode quotes."""
    system, user = check_prompt(pair, setting.data.case_of(pair), setting.config, episode, turn.text)
    reply = await _ask(setting, system, user, _CHECK_TOKENS + _THOUGHT_TOKENS, attempt, _write_check, temperature=0)
    setting.stats.attempts.used += 1
    found, why = _FOLLOWS.findall(reply.answer), _WHY.search(reply.answer)
    if len(found) != 1:
        return RejectedTurn(UNREADABLE, "it is unclear whether its conclusion follows from what it quotes.")
    if found[0].lower() == "yes":
        return turn
    reason = why[1] if why else "no reason given"
    return RejectedTurn(NOT_FOLLOWING, f"its conclusion does not follow from what it quotes ({reason}).")


async def _write_check(writer: ModelWriter) -> str:
    """Writes the answer to a check, with a local model."""
    writer.add("Follows: ")
    follows = await writer.choose(["yes", "no"], end="\n")
    writer.add("Why: ")
    why, _ = await writer.write(_CHECK_TOKENS)
    return f"Follows: {follows}\nWhy: {why}"


async def _ask(
    setting: Setting, system: str, user: str, max_tokens: int, attempt: int, form: AnswerForm, temperature: float = 0.7
) -> TeacherReply:
    texts = {"system": system, "user": user, "prefix": shared_beginning(user, "task")}
    reply = await setting.teacher.ask(
        TeacherRequest(**texts, max_tokens=max_tokens, temperature=temperature, sample=attempt, form=form)
    )
    setting.stats.attempts.answers += 1
    setting.stats.input_tokens += reply.input_tokens
    setting.stats.output_tokens += reply.output_tokens
    return reply


def _evidence(case: Case, episode: Episode, config: EpisodeConfig) -> list[str]:
    """What the judge has seen of the case."""
    passages = [passage.text for turn in episode.turns for passage in turn.passages]
    return [*passages, *([case.context] if config.context == "full" else [])]


def _searches(episode: Episode) -> int:
    return sum(turn.query is not None for turn in episode.turns)


def _shown(pair: ReasoningPair, episode: Episode, setting: Setting) -> Sequence[str]:
    """All texts that the judge has seen so far."""
    config, case = setting.config, setting.data.case_of(pair)
    prompt = judge_prompt(
        pair, case, context=config.context, searches=config.effective_budget.max_searches, style=config.prompt
    )
    passages = [passage.text for turn in episode.turns for passage in turn.passages]
    return [*(message["content"] for message in prompt.chat()), *passages]


def _ids(tokenizer: SafeTokenizer, episode: Episode, text: str) -> list[int]:
    """The ids of a turn, without a <think> tag that the chat template has opened."""
    return tokenizer.encode_policy_text(text.removeprefix("<think>") if episode.thinking else text)


def turn_form(max_tokens: int, *, may_search: bool, may_answer: bool) -> AnswerForm:
    """The form of a turn for local models: a thought of up to `max_tokens`, then a search or a judgment.

    A thought that does not end is cut behind its last whole sentence. Without one it is left open, and the turn has no
    action.
    """
    actions = [tag for tag, allowed in (("<search>", may_search), ("<answer>", may_answer)) if allowed]

    async def write(writer: ModelWriter) -> str:
        writer.add("<think>")
        thought, closed = await writer.write(max(max_tokens - _ACTION_TOKENS, _MIN_THOUGHT_TOKENS), end="</think>")
        if not closed:
            *whole, _ = sentences(thought) or [(0, 0)]
            if not whole:
                return f"<think>{thought}"
            thought = thought[: whole[-1][1]]
        writer.add(f"{thought}</think>\n")
        action = await writer.choose(actions, end="")
        if action == "<search>":
            query, _ = await writer.write(_ACTION_TOKENS, end="</search>")
            return f"<think>{thought}</think>\n<search>{query}</search>"
        return f"<think>{thought}</think>\n<answer>{await writer.choose(_JUDGMENTS, end='</answer>')}</answer>"

    return write
