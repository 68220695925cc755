"""Single-turn targets: the prompt, the gold judgment as text, and the two sides of a preference.

`export` writes them for other trainers. `judge_r1.training.data.single_turn_data` makes training rows from them.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import NUMBERS
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.verdicts import Judgment, LocatedVerdict, ScoresVerdict
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.located_answer import located_answer
from judge_r1.episode.prompts import (
    ANSWER,
    CHAIN_OF_THOUGHT,
    DIRECT,
    SEARCH_R1,
    STANDARD,
    TABLE6,
    Prompt,
    judge_prompt,
    reasoning_prompt,
    table11_answer,
    violations_prompt,
)
from judge_r1.episode.tags import escape_tags

AnswerForm = Literal["json", "table6"]
PreferenceForm = Literal["table7", "judgment", "reasoning"]


def answer_form(config: EpisodeConfig) -> AnswerForm:
    """The answer form that the prompt of `config` asks for."""
    return "table6" if config.prompt == TABLE6 else "json"


SINGLE_TURN = {STANDARD: ANSWER, SEARCH_R1: ANSWER, CHAIN_OF_THOUGHT: DIRECT}
"""Styles that ask for thoughts, which pairs do not have, and the style that asks for the same answer without them."""


def single_turn_style(config: EpisodeConfig, form: AnswerForm) -> str:
    """The style of a prompt whose answer is a gold judgment."""
    return TABLE6 if form == "table6" else SINGLE_TURN.get(config.prompt, config.prompt)


def question(pair: ReasoningPair, case: Case, config: EpisodeConfig, form: AnswerForm) -> Prompt:
    """The judge's prompt without searches and thoughts. The form of Table 6 has a separate prompt."""
    return judge_prompt(pair, case, context=config.context, searches=0, style=single_turn_style(config, form))


def answer(judgment: Judgment, form: AnswerForm, style: str = STANDARD) -> str:
    """A judgment in the form that a prompt of this style asks for: the JSON of the paper's Table 11, in answer tags and
    without an explanation except for the styles without tags, or the two lines of Table 6. A verdict on two
    conversations, and a score, have a JSON of their own."""
    if isinstance(judgment.verdict, LocatedVerdict):
        return f"<answer>{located_answer(judgment.verdict)}</answer>"
    violated = list(judgment.violated_principles)
    if isinstance(judgment.verdict, ScoresVerdict):
        score = int(judgment.verdict.scores[0])
        return f"<answer>{json.dumps({'score': score, 'violated_principles': violated})}</answer>"
    if TABLE6 in (form, style):
        return f"{judgment.comparison}\nviolated_principles: {violated}"
    if style in (DIRECT, CHAIN_OF_THOUGHT):
        return table11_answer(judgment)
    return f"<answer>{json.dumps({'comparison': judgment.comparison, 'violated_principles': violated})}</answer>"


def chosen_principles(pairs: Iterable[ReasoningPair]) -> tuple[int, ...]:
    """The principles that any of the pairs violates, in order: those that a preference chooses."""
    return tuple(sorted({number for pair in pairs for number in pair.violated}))


def wrong_judgment(pair: ReasoningPair, seed: int, chosen: Sequence[int] = NUMBERS) -> Judgment:
    """A judgment with one error, chosen by the hash of pair and seed.

    Half of the pairs get the wrong side with the right principles. The other half get the right side with wrong
    principles (`wrong_principles`); if there are none, the wrong side, too."""
    gold, drawn = pair.gold, int(content_hash("rejected", pair.pair_id, seed), 16)
    wrong = () if drawn % 2 else wrong_principles(pair, drawn // 2, chosen)
    return gold.model_copy(update={"violated_principles": wrong}) if wrong else gold.swapped()


def wrong_principles(pair: ReasoningPair, drawn: int, chosen: Sequence[int] = NUMBERS) -> tuple[int, ...]:
    """Other principles than the pair's, as many of them (one fewer of all that there are): the set number `drawn` of
    these. Empty if the data has one principle.

    They are among the `chosen` ones of the data: a principle that is always rejected would be unlearned."""
    size = min(len(pair.violated), len(chosen) - 1)
    others = [numbers for numbers in combinations(chosen, size) if numbers != pair.violated]
    return others[drawn % len(others)]


def violations(
    pair: ReasoningPair, case: Case, config: EpisodeConfig, seed: int, among: Sequence[int] = NUMBERS
) -> tuple[Prompt, str, str]:
    """(prompt, chosen, rejected): the turn of Table 7, which shows the flawed reasoning and asks for its principles.
    The table prints no rejected answer; here it names wrong principles, as many of them, `among` those of the data.

    Raises:
        JudgeError: The data has one principle alone.
    """
    prompt = violations_prompt(case, pair.flawed, context=config.context)
    wrong = wrong_principles(pair, int(content_hash("rejected", pair.pair_id, seed), 16), among)
    if not wrong:
        raise JudgeError(
            f"every pair violates principle {pair.violated[0]} alone, so Table 7 has no other one to reject: add pairs "
            "of other principles, or compare judgments (dpo.form: judgment, --preference judgment)"
        )
    chosen, rejected = (f"The reasoning violates principles {list(numbers)}." for numbers in (pair.violated, wrong))
    return prompt, chosen, rejected


def reasonings(pair: ReasoningPair, case: Case, config: EpisodeConfig) -> tuple[Prompt, str, str]:
    """(prompt, chosen, rejected): the reference and the flawed reasoning as answers to the case (paper, appendix D)."""
    prompt = reasoning_prompt(case, context=config.context)
    return prompt, escape_tags(pair.reference), escape_tags(pair.flawed)
