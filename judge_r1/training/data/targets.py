"""Answers in one turn, without search: the prompt, the gold judgment as text, and what a preference is between.

`export` writes them down for other trainers; `train` makes its own rows of them
(`judge_r1.training.data.single_turn_data`).
"""

import json
from itertools import combinations
from typing import Literal

from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case, Judgment, ReasoningPair, content_hash
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import TABLE6, Prompt, judge_prompt, reasoning_prompt
from judge_r1.episode.tags import escape_tags

AnswerForm = Literal["json", "table6"]
PreferenceForm = Literal["judgment", "reasoning"]


def answer_form(config: EpisodeConfig) -> AnswerForm:
    """The form of the answer that the prompt of `config` asks for."""
    return "table6" if config.prompt == TABLE6 else "json"


def question(pair: ReasoningPair, case: Case, config: EpisodeConfig, form: AnswerForm) -> Prompt:
    """The judge's prompt, without searches; Table 6's form has a prompt of its own."""
    style = TABLE6 if form == "table6" else config.prompt
    return judge_prompt(pair, case, context=config.context, searches=0, style=style)


def answer(judgment: Judgment, form: AnswerForm) -> str:
    """A judgment as the prompt asks for it: the JSON of the paper's Table 11 between answer tags, without its
    explanation, or the two lines of Table 6."""
    violated = list(judgment.violated_principles)
    if form == "table6":
        return f"{judgment.comparison}\nviolated_principles: {violated}"
    return f"<answer>{json.dumps({'comparison': judgment.comparison, 'violated_principles': violated})}</answer>"


def wrong_judgment(pair: ReasoningPair, seed: int) -> Judgment:
    """A judgment that is wrong in one way, by the hash of the pair and the seed: for one half of the pairs the other
    side with the right principles, for the other half the right side with other principles, as many as are right (one
    fewer where all six are), every such set equally likely."""
    gold, drawn = pair.gold, int(content_hash("rejected", pair.pair_id, seed), 16)
    if drawn % 2:
        return gold.swapped()
    size = min(len(pair.violated), len(NUMBERS) - 1)
    others = [numbers for numbers in combinations(NUMBERS, size) if numbers != pair.violated]
    return gold.model_copy(update={"violated_principles": others[drawn // 2 % len(others)]})


def reasonings(pair: ReasoningPair, case: Case, config: EpisodeConfig) -> tuple[Prompt, str, str]:
    """(prompt, chosen, rejected): the two reasonings of a pair as answers to its case (structure of Table 7)."""
    prompt = reasoning_prompt(case, context=config.context)
    return prompt, escape_tags(pair.reference), escape_tags(pair.flawed)
