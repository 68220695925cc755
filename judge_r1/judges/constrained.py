"""Answers plain prompts on a local model by constrained decoding: whatever the model, its answer can be parsed.

A prompt with a form (`CustomPrompt.form`) is answered by its template; any other prompt is answered freely. The answers
are not those of the same model without constraints, so results have another judge name (`…-constrained@MODEL`).
"""

from collections.abc import AsyncIterator, Sequence

from judge_r1.core.records import Trajectory, Turn
from judge_r1.episode.answer_form import MIN_SHARED_TOKENS, AnswerTooLong, ModelWriter
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput, PromptFit
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings, overflow_output
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.judges.runners.concurrency import as_finished
from judge_r1.models.open_model import is_local, open_model

FREE, CONSTRAINED = "free", "constrained"


def is_constrained(kind: str, decoding: str | None, backend: str) -> bool:
    """What the option `decoding` of a judge says. Raises: BadJudge for another value, or if the model is not local."""
    if decoding not in (None, FREE, CONSTRAINED):
        raise BadJudge(f"{kind}: decoding is {FREE} or {CONSTRAINED}, not {decoding!r}")
    if decoding == CONSTRAINED and not is_local(backend):
        raise BadJudge(f"{kind}: decoding={CONSTRAINED} needs a model that is loaded here, not {backend}")
    return decoding == CONSTRAINED


class ConstrainedJudge:
    """`build.backend` is a local model. At most `build.batch_size` answers are written at a time."""

    def __init__(self, build: JudgeBuild, config: EpisodeConfig, *, kind: str, prompted: bool = True) -> None:
        self.name = f"{kind}-constrained@{build.backend}"
        self.settings = {**judge_settings(build, config), "decoding": "constrained"}
        self._config, self._sampling, self._batch_size = config, build.sampling, build.batch_size
        opened = open_model(build.backend, concurrency=build.batch_size, background=False, min_shared=MIN_SHARED_TOKENS)
        self._factory = EpisodeFactory.of_model(self.name, config, opened, build, prompted=prompted)
        self._model = opened.model

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit:
        if wrong := [request for request in requests if not isinstance(request.task, CustomPrompt)]:
            raise BadJudge(f"{self.name} answers prompts, but item {wrong[0].item.item_id} is a pair of reasonings")
        return self._factory.prompt_lengths(requests)[1]

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, self._batch_size)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        episode, task = self._factory.make_episode(request), request.task
        if isinstance(episode, PromptTooLong):
            return overflow_output(request, episode)
        assert isinstance(task, CustomPrompt)
        prompt, context = len(episode.prompt_ids), self._factory.context_length
        writer = ModelWriter(
            self._model,
            self._factory.tokenizer,
            self._factory.eos_ids,
            episode.prompt_ids,
            temperature=self._sampling.temperature,
            seed=episode.seed,
            context_length=context,
        )
        try:
            if task.form is None:
                text, complete = await writer.write(self._config.budget.response_tokens, end="")
            else:
                text, complete = await task.form(writer), True
        except AnswerTooLong as error:
            return overflow_output(
                request, PromptTooLong(f"item {request.item.item_id}: {error}", prompt, context or 0)
            )
        trajectory = Trajectory.without_ids("answer" if complete else "turn_budget", [Turn(text=text)])
        usage = {"calls": 1, "input_tokens": len(writer.ids) - writer.kept, "output_tokens": writer.sampled}
        return JudgeOutput(request, trajectory, request.read(trajectory), usage=usage)
