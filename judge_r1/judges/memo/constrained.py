"""Samples a score among the allowed ones, for models that do not keep to the layout of an answer.

An answer without a score is continued by `FINAL <metric> Score: `, and only ids of an allowed score may follow
(constrained decoding). A metric stays without a score if the continued answer does not fit into the context.
"""

from collections.abc import Sequence

from judge_r1.core.verdicts import CONTEXT_OVERFLOW
from judge_r1.episode.answer_form import AnswerTooLong, ModelWriter, SamplingFailed
from judge_r1.episode.prompts import Prompt
from judge_r1.judges.memo.config import PromptForm
from judge_r1.judges.memo.metrics import Metric
from judge_r1.judges.memo.parser import visible
from judge_r1.judges.memo.prompts import score_line
from judge_r1.judges.memo.text_model import TextModel
from judge_r1.models.base import Generation, Usage


def allowed_scores(form: PromptForm) -> tuple[str, ...]:
    """The scores that the form asks for, as texts."""
    whole = tuple(str(score) for score in range(1, 6))
    return tuple(sorted((*whole, *(f"{score}.5" for score in whole[:-1])))) if form.half_points else whole


async def constrained_scores(
    model: TextModel, prompt: Prompt, answer: str, metrics: Sequence[Metric], form: PromptForm
) -> list[Generation]:
    """For each metric a generation whose text is the line of its score, one after the other behind `answer`. A
    generation that failed, or did not fit into the context, ends the list."""
    assert model.tokenizer is not None, "constrained scores need a local model"
    writer = ModelWriter(
        model.model,
        model.tokenizer,
        model.eos_ids,
        model.prompt_ids(prompt),
        temperature=model.temperature,
        seed=model.seed,
        context_length=model.context_length,
    )
    lines: list[Generation] = []
    before = f"{begun}\n" if (begun := visible(answer)) else ""
    for metric in metrics:
        lead = score_line(metric, "")
        writer.add(before + lead)
        try:
            found = Generation(text=lead + await writer.choose(allowed_scores(form)))
        except AnswerTooLong:
            found = Generation(finish_reason=CONTEXT_OVERFLOW)
        except SamplingFailed as error:
            found = Generation(failure=error.failure)
        found.usage, writer.usage, before = writer.usage, Usage(), ""
        lines.append(found)
        if found.failure is not None or found.declined:
            break
    return lines
