"""Samples a score among the allowed ones, for models that do not keep to the layout of an answer.

An answer without a score is continued by `FINAL <metric> Score: `, and only ids of an allowed score may follow
(constrained decoding). A metric stays without a score if the continued answer does not fit into the context.
"""

from collections.abc import Sequence
from dataclasses import replace

from judge_r1.core.verdicts import CONTEXT_OVERFLOW
from judge_r1.episode.prompts import Prompt
from judge_r1.judges.memo.forms import PromptForm
from judge_r1.judges.memo.metrics import Metric
from judge_r1.judges.memo.parser import visible
from judge_r1.judges.memo.prompts import score_line
from judge_r1.judges.memo.text_model import TextModel
from judge_r1.models.base import GenerateRequest, Generation, Usage


def allowed_scores(form: PromptForm) -> tuple[str, ...]:
    """The scores that the form asks for, as texts."""
    whole = tuple(str(score) for score in range(1, 6))
    return tuple(sorted((*whole, *(f"{score}.5" for score in whole[:-1])))) if form.half_points else whole


async def constrained_scores(
    model: TextModel, prompt: Prompt, answer: str, metrics: Sequence[Metric], form: PromptForm
) -> list[Generation]:
    """For each metric a generation whose text is the line of its score, one after the other behind `answer`. A
    generation that failed, or did not fit into the context, ends the list."""
    lines, begun = [], visible(answer)
    for metric in metrics:
        lead = score_line(metric, "")
        found = await choose(model, prompt, f"{begun}\n{lead}".lstrip("\n"), allowed_scores(form))
        if found.failure is None and not found.declined:
            found = replace(found, text=lead + found.text)
            begun = f"{begun}\n{found.text}"
        lines.append(found)
        if found.failure is not None or found.declined:
            break
    return lines


async def choose(model: TextModel, prompt: Prompt, begun: str, choices: Sequence[str]) -> Generation:
    """One of `choices` as the continuation of an answer that begins with `begun`, sampled id by id among those that
    lead to a choice. The usage is that of all ids; an id that has no alternative is not sampled."""
    tokenizer = model.tokenizer
    assert tokenizer is not None, "constrained scores need a local model"
    before = tokenizer.prompt_ids(prompt)
    open_ = {choice: (*before, *tokenizer.encode_untrusted(f"{begun}{choice}\n")) for choice in choices}
    at, spent = len(before), Usage()
    if model.context_length is not None and max(map(len, open_.values())) > model.context_length:
        return Generation(finish_reason=CONTEXT_OVERFLOW)
    while len(open_) > 1:
        allowed = frozenset(ids[at] for ids in open_.values())
        chosen = next(iter(allowed))
        if len(allowed) > 1:
            ids = next(iter(open_.values()))[:at]
            request = GenerateRequest(
                1, prompt_ids=ids, temperature=model.temperature, seed=model.seed, allowed_ids=allowed
            )
            [found] = await model.model.generate([request])
            spent.add(found.usage)
            if found.failure is not None:
                return replace(found, usage=spent)
            chosen = found.token_ids[0]
        open_ = {choice: ids for choice, ids in open_.items() if ids[at] == chosen}
        at += 1
    [choice] = open_
    return Generation(text=choice, usage=spent)
