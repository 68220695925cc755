"""The likelihood judge compares the probabilities of `A>B` and `A<B`, for models that have not learned the answer
format.

The prompt is the direct judge's. The answer is prefilled up to the token where A>B and A<B differ, and the more likely
of the two tokens is the verdict. One forward pass per request; always a valid comparison, no principles, no search.
"""

from collections.abc import AsyncIterator, Sequence
from math import exp
from typing import Any

from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.judges.backend_spec import is_local
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, JudgeOutput, PromptFit
from judge_r1.judges.direct import direct_config
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings, overflow_output
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.hub import load_model

ANSWERS = ('{"comparison": "A>B"', '{"comparison": "A<B"')


class LikelihoodJudge:
    """`build.backend` is a local model. `confidence` is p(chosen) / (p(A>B) + p(A<B)) at the id that decides."""

    def __init__(self, build: JudgeBuild) -> None:
        model = build.backend
        if not is_local(model):
            raise BadJudge(f"likelihood@{model}: the model must be local, its logits are read here")
        config = direct_config(build)
        self._model = load_model(model).eval()
        self.name, self.settings = f"likelihood@{model}", judge_settings(build, config)
        self._factory = EpisodeFactory.load(self.name, config, model, build)
        # Tokenizers split `A>B` in different places, so the deciding id is found, not assumed.
        first, second = (self._factory.tokenizer.encode_trusted(answer) for answer in ANSWERS)
        shared = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
        if shared is None:
            raise BadJudge(f"{self.name}: its tokenizer writes A>B and A<B alike")
        self._begun, self._ids = first[:shared], (first[shared], second[shared])

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit:
        return self._factory.prompt_lengths(requests)[1]

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            episode = self._factory.make_episode(request)
            if isinstance(episode, PromptTooLong):
                yield overflow_output(request, episode)
                continue
            margin = self._margin([*episode.prompt_ids, *self._begun])
            judgment = Judgment.pairwise("A>B" if margin >= 0 else "A<B")
            trajectory = Trajectory.without_ids("answer", judgment=judgment)
            yield JudgeOutput(request, trajectory, request.read(trajectory), 1 / (1 + exp(-abs(margin))))

    def _margin(self, ids: Sequence[int]) -> float:
        """log p(A>B) - log p(A<B), as the next id."""
        import torch

        with torch.no_grad():
            # Only the last logits: those of a whole long prompt would take gigabytes.
            logits: Any = self._model(torch.tensor([ids], device=self._model.device), logits_to_keep=1).logits[0, -1]
        return float(logits[self._ids[0]].double() - logits[self._ids[1]].double())


def _make(build: JudgeBuild) -> Judge:
    return LikelihoodJudge(build)


JUDGES.register("likelihood")(
    JudgeKind("the likelier of A>B and A<B where the answer would say it; a folder, a hub name or bundled:NAME", _make)
)
