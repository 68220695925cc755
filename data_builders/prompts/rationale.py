"""The prompts by which a teacher writes a judge's rationale, turn by turn.

    first   material, what to write, the form: one search
    next    material, what was written and shown so far, the outcome, what to write, the form: a search or the answer
    whole   of a judge without searches: material, the outcome, what to write, the form: the answer

The gold outcome is added only after the first passages, so that a model trained on the text does not learn to decide
before it searches. What changes between turns comes last, so that all turns share the vendor's prompt cache.
"""

import json
from collections.abc import Mapping
from functools import cache

from data_builders.prompts import domain_text, fill, guard, template
from judge_r1.core.principles import by_number
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair, Span
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.machine import Episode
from judge_r1.episode.prompts import judge_prompt

PromptText = tuple[str, str]
"""(system, user)."""

SEARCH = "<search>a short query</search>"
ANSWER = "the answer between <answer> and </answer>, as the instructions say"
_TAGS = ("instructions", "task", "so_far")
_CONTEXT_WORDS = 12
"""Words shown on each side of a flaw."""
_NAMES = ("system", "material", "first", "next", "whole", "form", "again", "check")


def turn_prompt(
    pair: ReasoningPair, case: Case, config: EpisodeConfig, episode: Episode, *, words: int, rejected: str = ""
) -> PromptText:
    """The prompt for the next turn of an episode. `rejected` says why the previous attempt was rejected."""
    searches = config.effective_budget.max_searches
    fields = {"material": _material(pair, case, config)}
    left = searches - sum(turn.query is not None for turn in episode.turns)
    if not searches:
        name, action = "whole", ANSWER
    elif not episode.turns:
        name, action = "first", f"one search: {SEARCH}"
    else:
        name, action = "next", f"either one search, {SEARCH}, or {ANSWER}" if left else ANSWER
        fields["so_far"] = _so_far(episode)
        fields["go_on"] = _remaining_searches(left)
    if name != "first":
        fields["outcome"] = _outcome(pair)
    evidence = "the case" if not searches else "a passage or the case" if config.context == "full" else "a passage"
    fields["form"] = _fill("form", {"action": action, "words": str(words), "evidence": evidence})
    fields["earlier"] = "\n" + _fill("again", {"reason": rejected}) if rejected else ""
    return _system(case), _fill(name, fields).strip("\n")


def check_prompt(pair: ReasoningPair, case: Case, config: EpisodeConfig, episode: Episode, last: str) -> PromptText:
    """The prompt that asks whether the conclusion of an episode follows from what it quotes. `last` is the turn with
    the answer. It does not depend on the outcome that the writer knew."""
    so_far = _so_far(episode) + guard(last, *_TAGS)
    return _system(case), _fill("check", {"material": _material(pair, case, config), "so_far": so_far}).strip("\n")


def _system(case: Case) -> str:
    return _fill("system", {"role": domain_text(case.domain).role})


def _material(pair: ReasoningPair, case: Case, config: EpisodeConfig) -> str:
    """The judge's prompt, which all requests on a pair share."""
    searches = config.effective_budget.max_searches
    judge = judge_prompt(pair, case, context=config.context, searches=searches, style=config.prompt).chat()
    shown = {"instructions": judge[0]["content"], "task": judge[1]["content"]}
    return _fill("material", {name: guard(text, *_TAGS) for name, text in shown.items()})


def _so_far(episode: Episode) -> str:
    return guard("".join(turn.text + (turn.observation or "") for turn in episode.turns), *_TAGS)


def may_answer(config: EpisodeConfig, episode: Episode) -> bool:
    """Whether the next turn may answer. A case that can be searched must be searched at least once."""
    return not config.effective_budget.max_searches or bool(episode.turns)


@cache
def rationale_prompts_hash() -> str:
    """The hash of all templates, recorded with the rationales."""
    return content_hash([template(f"rationale_{name}").template for name in _NAMES])


def _outcome(pair: ReasoningPair) -> str:
    worse = "B" if pair.preferred == "A" else "A"
    flaws = [
        f'{flaw.principle}, {by_number(flaw.principle).name}, where it says "{_words(pair.flawed, flaw.span)}"'
        for flaw in sorted(pair.origin.flaws, key=lambda flaw: flaw.span.start)
    ]
    gold = {"comparison": pair.gold.comparison, "violated_principles": list(pair.violated)}
    outcome = f"{worse} is the worse reasoning. It breaks {'; and '.join(flaws)}. The answer is {json.dumps(gold)}"
    return guard(outcome, *_TAGS)


def _words(text: str, span: Span) -> str:
    before, after = text[: span.start].split(" ")[-_CONTEXT_WORDS:], text[span.end :].split(" ")[:_CONTEXT_WORDS]
    words = " ".join(before) + text[span.start : span.end] + " ".join(after)
    return f"… {' '.join(words.split())} …"


def _remaining_searches(left: int) -> str:
    if not left:
        return "It has no searches left: it draws its conclusion from what it knows by now and ends with the answer."
    searches = "one search" if left == 1 else f"{left} searches"
    return (
        f"It has {searches} left. Where another claim is still to be checked, it searches again; where enough is "
        "known, it draws its conclusion and ends with the answer."
    )


def _fill(name: str, fields: Mapping[str, str]) -> str:
    return fill(f"rationale_{name}", fields)
