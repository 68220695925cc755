"""The likelihood judge compares the probabilities of `A>B` and `A<B`, for models that have not learned the answer
format.

The prompt is the direct judge's. The answer is prefilled up to the token where A>B and A<B differ, and the more likely
of the two tokens is the verdict. One forward pass per request, the requests of a batch together; always a valid
comparison, no principles, no search.
"""

from collections.abc import AsyncIterator, Sequence
from math import exp

from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.judges.base import JUDGES, BadJudge, JudgeBuild, JudgeKind, JudgeOutput, PromptFit
from judge_r1.judges.direct import direct_config
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings, overflow_output
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.runners import as_finished
from judge_r1.models.base import GenerateRequest
from judge_r1.models.open_model import is_local, open_model

ANSWERS = ('{"comparison": "A>B"', '{"comparison": "A<B"')


class LikelihoodJudge:
    """`build.backend` is a local model. `confidence` is p(chosen) / (p(A>B) + p(A<B)) at the id that decides."""

    def __init__(self, build: JudgeBuild) -> None:
        model = build.backend
        if not is_local(model):
            raise BadJudge(f"likelihood@{model}: the model must be local, its logits are read here")
        config = direct_config(build)
        opened = open_model(model, concurrency=build.batch_size, background=False, persistent=False)
        self.name, self.settings = f"likelihood@{model}", judge_settings(build, config)
        self._factory = EpisodeFactory(self.name, config, opened, build)
        # Tokenizers split `A>B` in different places, so the deciding id is found, not assumed.
        first, second = (self._factory.tokenizer.encode_trusted(answer) for answer in ANSWERS)
        shared = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
        if shared is None:
            raise BadJudge(f"{self.name}: its tokenizer writes A>B and A<B alike")
        self._begun, self._ids = first[:shared], (first[shared], second[shared])
        self._model, self._at_a_time = opened.model, build.batch_size

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit:
        return self._factory.prompt_lengths(requests)[1]

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, self._at_a_time)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        episode = self._factory.make_episode(request)
        if isinstance(episode, PromptTooLong):
            return overflow_output(request, episode)
        ids = [*episode.prompt_ids, *self._begun]
        [answer] = await self._model.generate(
            [GenerateRequest(max_tokens=1, prompt_ids=ids, allowed_ids=frozenset(self._ids))]
        )
        judgment = Judgment.pairwise("A>B" if answer.token_ids[0] == self._ids[0] else "A<B")
        trajectory = Trajectory.without_ids("answer", judgment=judgment)
        # The log-probability is that among the two.
        return JudgeOutput(request, trajectory, request.read(trajectory), exp(answer.logprobs[0]))


JUDGES.register("likelihood")(
    JudgeKind(
        "the likelier of A>B and A<B where the answer would say it; a folder, a hub name or bundled:NAME",
        LikelihoodJudge,
    )
)
