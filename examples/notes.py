"""A judge with a model and several calls: it takes notes on each candidate, then scores each with all notes in view.

judge-r1 eval --judge notes@https://host/v1#model --path data/pairs --out runs/notes
"""

import re
from collections.abc import AsyncIterator, Sequence

from judge_r1.core.records import INFRASTRUCTURE, Trajectory, Turn
from judge_r1.core.verdicts import InvalidVerdict, Judgment, ScoresVerdict
from judge_r1.judges.base import JUDGES, JudgeBuild, JudgeKind, JudgeOutput
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.runners import as_finished
from judge_r1.models.base import GenerateRequest, LanguageModel, Usage
from judge_r1.models.open_model import open_model

SCORE = re.compile(r"Score: (10|[1-9])\s*")


class CallFailed(Exception):
    """The model did not answer: the request has no verdict, and counts as a failure of the server."""


class NotesJudge:
    """`name` and `settings` go into every result, so they hold whatever changes a verdict."""

    def __init__(self, name: str, model: LanguageModel, build: JudgeBuild) -> None:
        self.name, self.settings = name, {"temperature": build.sampling.temperature}
        self._model, self._sampling, self._at_a_time = model, build.sampling, build.batch_size

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        """Raises BadJudge for what this judge cannot judge, before the first call; nothing here."""

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Runs requests together, and stops if the server is down."""
        return as_finished(self.name, requests, self._one, self._at_a_time)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        turns, usage, scores, notes = list[Turn](), Usage(), list[float](), ""
        try:
            for index in request.order:
                shown = f"{request.item.instruction}\n\nCandidate: {request.item.texts[index]}"
                notes += await self._call(f"Notes so far: {notes}\nTake notes.", shown, turns, usage) + "\n"
                text = await self._call(f"Notes so far: {notes}\nScore it from 1 to 10.", shown, turns, usage)
                if found := SCORE.fullmatch(text):
                    scores.append(float(found[1]))
        except CallFailed as failure:
            return self._output(request, Trajectory.without_ids(f"{INFRASTRUCTURE}{failure}", turns), usage)
        judgment = Judgment(verdict=ScoresVerdict(scores=tuple(scores)), explanation=notes) if scores else None
        if len(scores) < len(request.order):
            return self._output(request, Trajectory.without_ids("no_score", turns), usage)
        return self._output(request, Trajectory.without_ids("answer", turns, judgment), usage)

    def _output(self, request: JudgeRequest, trajectory: Trajectory, usage: Usage) -> JudgeOutput:
        verdict = trajectory.judgment.verdict if trajectory.judgment else InvalidVerdict(reason=trajectory.ended)
        return JudgeOutput(request, trajectory, verdict, usage=usage.as_dict())

    async def _call(self, system: str, user: str, turns: list[Turn], usage: Usage) -> str:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        temperature, seed = self._sampling.temperature, self._sampling.seed
        request = GenerateRequest(max_tokens=512, messages=messages, temperature=temperature, seed=seed)
        [found] = await self._model.generate([request])
        usage.add(found.usage)
        if found.failure is not None:
            raise CallFailed(found.failure)
        turns.append(Turn(text=found.text))
        return found.text


def make(build: JudgeBuild) -> NotesJudge:
    """The judge of a SPEC `notes@URL#MODEL`."""
    model = open_model(build.backend, "notes", concurrency=build.batch_size)
    return NotesJudge(f"notes@{model.name}", model, build)


JUDGES.register("notes")(JudgeKind("takes notes, then scores each candidate from 1 to 10", make))
