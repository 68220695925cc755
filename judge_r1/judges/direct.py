"""The direct judge: a single answer, the JSON of the paper's Table 11, parsed by the tolerant parser.

It also answers a benchmark's own prompts, as plain text. `prompt=FILE.txt` asks in the words of a template of the user.
Other options make it a prompting baseline:
`prompt=chain-of-thought` reasons first, `examples=FOLDER` (with `shots`) shows solved pairs, and `retrieve=K` shows K
passages instead of the case: `RewritingJudge` changes the task, and the judge inside needs to know nothing of it.

`decoding=constrained` lets a local model answer a prompt that has a form (`CustomPrompt.form`) by its template only:
whatever the model, the answer can be parsed. It is not the answer of the model without constraints, so results have
another judge name (`…-constrained@MODEL`).
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from judge_r1.core.records import Trajectory, Turn
from judge_r1.episode.answer_form import MIN_SHARED_TOKENS, AnswerTooLong, ModelWriter
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import DIRECT
from judge_r1.episode.rollout import TAGLESS_PARSERS, PromptTooLong, parser_without_tags
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.agentic import AgenticJudge, episode_config
from judge_r1.judges.backend_spec import (
    ENDPOINT_OPTIONS,
    LocalJudgeFactory,
    continuous_judge,
    judge_of_backend,
    split_options,
    with_defaults,
)
from judge_r1.judges.base import (
    JUDGES,
    BadJudge,
    Judge,
    JudgeBuild,
    JudgeKind,
    JudgeOutput,
    JudgeWrapper,
    PromptFit,
    whole_number,
)
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings, overflow_output, reject_custom_prompt
from judge_r1.judges.few_shot import FewShotExamples
from judge_r1.judges.request import CustomPrompt, JudgeRequest, RequestKey
from judge_r1.judges.runners import as_finished
from judge_r1.models.open_model import is_chat, is_local, open_model
from retrieval.differences import difference_query

SHOTS = 3
"""The number of examples of a few-shot judge."""
CHAT_TOKENS = 16_384
"""The default limit of an answer at a chat endpoint, where the thoughts of a reasoning model count too."""


Rewrite = Callable[[PairwiseTask], PairwiseTask]


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
        self._factory = EpisodeFactory(self.name, config, opened, build, prompted=prompted)
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


class RewritingJudge(JudgeWrapper):
    """Shows `judge` the tasks that `rewrite` returns. `prepare` gets the cases of all requests before the first one
    runs."""

    def __init__(
        self,
        judge: Judge,
        rewrite: Rewrite,
        settings: dict[str, Any],
        prepare: Callable[[Sequence[str]], None] = lambda case_ids: None,
    ) -> None:
        super().__init__(judge, settings)
        self._rewrite, self._prepare = rewrite, prepare
        self._checked: dict[RequestKey, tuple[JudgeRequest, JudgeRequest]] = {}
        """The requests of the last check as given and as shown, since a retrieval may take a second for each."""

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        self._prepare([request.case_id for request in requests if request.case_id])
        # The prompts to count are those that the judge will read, with the passages or examples in them.
        self._checked = {request.key: (request, self.shown(request)) for request in requests}
        return self._judge.check([shown for _, shown in self._checked.values()])

    def shown(self, request: JudgeRequest) -> JudgeRequest:
        checked = self._checked.pop(request.key, None)
        # Equal, not identical: a benchmark makes a request anew whenever it is read. The key alone would not do, since
        # it does not say what the texts are.
        if checked is not None and checked[0] == request:
            return checked[1]
        reject_custom_prompt(self.name, request, prompted=False)
        assert not isinstance(request.task, CustomPrompt)
        return replace(request, task=self._rewrite(request.task))

    def given(self, output: JudgeOutput) -> JudgeOutput:
        """The passages that the task showed are evidence of the judgment."""
        task, judgment = output.request.task, output.trajectory.judgment
        if isinstance(task, CustomPrompt) or not task.passages or judgment is None:
            return output
        shown = judgment.model_copy(update={"evidence": task.passages})
        return output._replace(trajectory=output.trajectory.model_copy(update={"judgment": shown}))


def retrieve_once(searcher: CaseSearcher, k: int) -> Rewrite:
    """The rewrite that puts the `k` best passages of the case in the place of its context.

    The query has the words in which the candidates differ (`retrieval.differences`), in either order of the two, or
    decision and candidates if it finds nothing. Passages are shown in the order of the case.
    """

    def rewrite(task: PairwiseTask) -> PairwiseTask:
        if task.case_id is None:
            raise BadJudge("retrieve searches the case of a pair, but these items have none: leave out retrieve")
        both = " ".join((task.decision, *sorted((task.reasoning_a, task.reasoning_b))))
        for query in filter(str.strip, (difference_query(task.reasoning_a, task.reasoning_b), both)):
            if found := searcher.search([(task.case_id, query)], k)[0]:
                return replace(task, passages=tuple(sorted(found, key=lambda passage: passage.start)))
        return task

    return rewrite


def direct_config(build: JudgeBuild) -> EpisodeConfig:
    """The agentic judge's configuration with `prompt=direct` and `search=false`, and `CHAT_TOKENS` at a chat endpoint,
    unless options, a recipe or the benchmark set them. Raises: BadJudge for a prompt with tags, or with search."""
    usual = [f"prompt={DIRECT}", "search=false"]
    if is_chat(build.backend) and build.recipe is None and build.limits.response_tokens is None:
        usual.append(f"budget.response_tokens={CHAT_TOKENS}")
    config = episode_config(with_defaults(build, *usual))
    if parser_without_tags(config.prompt, TAGLESS_PARSERS) is None or config.search:
        raise BadJudge(
            f"a direct judge answers once, without tags: prompt is {', '.join(TAGLESS_PARSERS)} or a file "
            "FILE.txt, search is false"
        )
    return config


def make(build: JudgeBuild, local: LocalJudgeFactory = AgenticJudge) -> Judge:
    """A direct judge; `local` makes it for a model that is loaded here. Raises: BadJudge, EndpointError."""
    build, own = split_options(build, ("examples", "shots", "retrieve", "decoding"))
    if is_constrained("direct", own.get("decoding"), build.backend):
        local = ConstrainedJudge
    shots, retrieve = (whole_number("direct", own, name) for name in ("shots", "retrieve"))
    # Without the endpoint's options, which the judge takes out itself: an episode has no such fields.
    config = direct_config(split_options(build, ENDPOINT_OPTIONS)[0])
    examples = _examples(own, shots, config, build)
    judge = judge_of_backend(build, "direct", direct_config, local, prompted=True)
    if examples:
        judge = RewritingJudge(judge, examples.rewrite, {"shots": examples.shots, "examples": examples.digest})
    if retrieve:
        # The search runs before the prompt is made, so it is on here although the judge itself does not search.
        searcher = CaseSearcher(build.texts, config.model_copy(update={"search": True}))
        judge = RewritingJudge(judge, retrieve_once(searcher, retrieve), {"retrieve": retrieve}, searcher.prepare)
    return judge


def _examples(
    own: Mapping[str, str], shots: int | None, config: EpisodeConfig, build: JudgeBuild
) -> FewShotExamples | None:
    if "examples" not in own:
        if shots:
            raise BadJudge(f"direct:shots={shots} has no examples: add examples=FOLDER, a folder of training pairs")
        return None
    if config.prompt != DIRECT:
        raise BadJudge(f"direct:examples=FOLDER works with prompt={DIRECT} alone, not with prompt={config.prompt}")
    return FewShotExamples(Path(own["examples"]), shots or SHOTS, build.texts, build.sampling.seed)


JUDGES.register("direct")(
    JudgeKind(
        "answers once, as JSON; a folder, a hub name, bundled:NAME, URL#MODEL (chat) or vllm:URL#MODEL (token ids)",
        make,
        served=partial(make, local=continuous_judge),
    )
)
