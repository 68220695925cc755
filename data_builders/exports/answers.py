"""Single-turn prompts, the answers to them, and what a preference is between."""

import json
from collections.abc import Sequence
from itertools import combinations

from data_builders.exports import AnswerForm, Options
from judge_r1.principles import NUMBERS
from judge_r1.prompts import judge_prompt, reasoning_prompt
from judge_r1.records import Case, Judgment, ReasoningPair, content_hash
from judge_r1.tags import neutralise

Message = dict[str, str]
"""`role` and `content`."""


def question(pair: ReasoningPair, case: Case, options: Options) -> tuple[Message, Message]:
    """The judge's prompt as (system, user), without searches: an answer in one turn holds none."""
    style = "table6" if options.answer == "table6" else options.config.prompt
    system, user = judge_prompt(pair, case, context=options.config.context, searches=0, style=style).chat()
    return system, user


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
        return gold.model_copy(update={"comparison": "A<B" if gold.comparison == "A>B" else "A>B"})
    size = min(len(pair.violated), len(NUMBERS) - 1)
    others = [numbers for numbers in combinations(NUMBERS, size) if numbers != pair.violated]
    return gold.model_copy(update={"violated_principles": others[drawn // 2 % len(others)]})


def preference(pair: ReasoningPair, case: Case, options: Options) -> tuple[tuple[Message, Message], str, str]:
    """(prompt, chosen, rejected): two judgments of the pair, or its two reasonings as answers to the case (Table 7)."""
    if options.preference == "reasoning":
        system, user = reasoning_prompt(case, context=options.config.context).chat()
        return (system, user), neutralise(pair.reference), neutralise(pair.flawed)
    wrong = wrong_judgment(pair, options.seed)
    return question(pair, case, options), answer(pair.gold, options.answer), answer(wrong, options.answer)


def prompt_note(options: Options) -> str:
    """What the prompts show, for the dataset card."""
    style = "table6" if options.answer == "table6" else options.config.prompt
    return f"Prompts: style `{style}`, context `{options.config.context}`, no search; tags in quotes are neutralised."


def answer_note(options: Options) -> str:
    """How judgments are written, for the dataset card."""
    if options.answer == "table6":
        return "Answers: two lines, the comparison and the violated principles (Table 6 of the LRBench paper)."
    return "Answers: one JSON object (`comparison`, `violated_principles`) between answer tags."


def preference_notes(options: Options) -> Sequence[str]:
    """What is preferred to what, for the dataset card."""
    if options.preference == "reasoning":
        return [
            f"Prompts: the case (context `{options.config.context}`) and its decision; tags in quotes are neutralised.",
            "Chosen: the reference reasoning. Rejected: the flawed one (Table 7 of the LRBench paper).",
        ]
    return [
        prompt_note(options),
        answer_note(options),
        "Chosen: the gold judgment. Rejected: by the hash of the pair and the seed, either the other side with the "
        f"right principles or the right side with as many other principles (seed {options.seed}).",
    ]
