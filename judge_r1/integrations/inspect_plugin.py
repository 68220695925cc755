"""What `inspect` finds by the prefix `judge_r1/`: scorers, metrics, a solver, a task and a model provider.

The scorers compare a model's completion with the target, in both orders. A sample without a valid judgment is unscored
(NaN): Inspect leaves it out of the metrics and counts it in `unscored_samples`. An error that every request would meet
ends the evaluation.

A judge as a model (`--model judge_r1/SPEC`, such as `judge_r1/direct@https://host/v1#model`) answers the prompts of
`/v1/chat/completions` (docs/serve.md): it grades for `model_graded_qa` and `model_graded_fact`, and tasks that measure
judges run on it as they are. A prompt with none of these forms, and a judgment that failed, are errors of the sample.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolChoice, ToolInfo

from judge_r1.client import AsyncClient, BadRequest
from judge_r1.core.endpoint import RequestRejected, RetriesExhausted
from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import gather_all
from judge_r1.core.principles import GENERAL
from judge_r1.core.text_check import are, counted
from judge_r1.evaluation.inspect_logs import CLUSTER, FITS, VALID
from judge_r1.integrations.inspect_solver import episode, pairs, verdict
from judge_r1.integrations.reference_judge import ReferenceJudge, best, text_of_value
from judge_r1.judges.request import TokenLimits
from judge_r1.models.base import Sampling
from judge_r1.statistics.intervals import clustered_mean_ci

CONCURRENCY = 16


class Compared(NamedTuple):
    """The scores of a completion against each target, and what they rest on."""

    scores: Sequence[float | None]
    missing: str
    metadata: dict[str, Any]


@scorer(metrics=[mean(), stderr()])
def judged(url: str = "http://127.0.0.1:8000", key: str | None = None) -> Scorer:
    """1 if the completion beats the target in both orders, 0 if it loses in both.

    Of several targets each is acceptable by itself: the completion is compared with each, and the best value counts.
    Without a text, a completion loses.

    Args:
        url: The address of `judge-r1 serve`.
        key: The API key; by default that of the environment variable JUDGE_R1_KEY.
    """

    async def compare(state: TaskState, target: Target) -> Compared:
        prompt, answer = conversation_text(state.messages), state.output.completion
        async with AsyncClient(url, key=key) as judge:
            found = [await judge.score(prompt, [answer], reference=reference) for reference in target]
        invalid = sum(response.invalid for response in found)
        missing = f"{counted(invalid, 'judgment')} {are(invalid)} not valid"
        about = {"judgments": [response.id for response in found], "judge": found[0].judge}
        return Compared([response.scores[0] for response in found], missing, about)

    return _scorer(compare)


@scorer(metrics=[mean(), stderr()])
def pairwise(judge: str = "http://127.0.0.1:8000", context: str | None = None) -> Scorer:
    """The mean probability over both orders that the completion is better than the target; of several, the best one.

    Args:
        judge: A SPEC, such as `direct@https://host/v1#model`, or the URL of `judge-r1 serve`.
        context: The name of the sample's metadata that holds the case. The judge may search it.
    """
    compared = ReferenceJudge(judge)

    async def compare(state: TaskState, target: Target) -> Compared:
        case, domain = text_of_value(state.metadata.get(context or "")), str(state.metadata.get("domain", GENERAL))
        prompt, answer = conversation_text(state.messages), state.output.completion
        found = await gather_all([compared.score(prompt, answer, reference, case, domain) for reference in target])
        missing = "; ".join(one.reason for one in found if one.value is None)
        return Compared([one.value for one in found], missing, {"judge": judge})

    return _scorer(compare)


def _scorer(compare: Callable[[TaskState, Target], Awaitable[Compared]]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        if not answer.strip():
            return Score(value=0.0, answer=answer, explanation="the completion has no text")
        if not target:
            return Score.unscored(reason="the sample has no target", answer=answer)
        try:
            found = await compare(state, target)
        except (BadRequest, RequestRejected, RetriesExhausted) as error:
            return Score.unscored(reason=str(error), answer=answer)
        value = best(found.scores)
        # Not an exception: Inspect would end the log with an error and keep no results.
        if math.isnan(value):
            return Score.unscored(reason=found.missing, answer=answer, metadata=found.metadata)
        return Score(value=value, answer=answer, metadata=found.metadata)

    return score


def conversation_text(messages: Sequence[ChatMessage]) -> str:
    """What the last assistant message answers: the text of a single user message, or a paragraph for each message with
    its role. A part that is not text stands as its kind in brackets."""
    last = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=len(messages))
    asked = [(message.role, _text(message)) for message in messages[:last]]
    if [role for role, _ in asked] == ["user"]:
        return asked[0][1]
    return "\n\n".join(f"{role.upper()}:\n{text}" for role, text in asked if text)


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = [part.text if part.type == "text" else f"[{part.type}]" for part in message.content]
    return "\n".join(parts)


class JudgeAPI(ModelAPI):
    """`model_name` is the SPEC of a judge that runs in this process. `--temperature`, `--seed` and `--max-tokens` are
    those of its model; a task with others of its own gets a judge of its own."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._services: dict[tuple[Sampling, TokenLimits], Any] = {}
        self._service(config)

    def _service(self, config: GenerateConfig) -> Any:
        try:
            from judge_r1.serving.service import open_service
        except ModuleNotFoundError as error:
            raise JudgeError(f"a judge as a model needs {error.name}: pip install 'judge-r1[serve]'") from None
        sampling = Sampling(config.temperature or 0.0, config.seed or 0)
        limits = TokenLimits(response_tokens=config.max_tokens)
        if (sampling, limits) not in self._services:
            self._services[sampling, limits] = open_service(
                self.model_name, max_concurrency=CONCURRENCY, sampling=sampling, tokens=limits
            )
        return self._services[sampling, limits]

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        from judge_r1.serving.chat_questions import answer_question, no_form, read_question
        from judge_r1.serving.pairwise_prompt_formats import UnsupportedPrompt
        from judge_r1.serving.reply_schema import ReplySchema

        users = [message.text for message in input if message.role == "user"]
        system = [message.text for message in input if message.role == "system"]
        asked = config.response_schema
        try:
            if len(users) != 1 or len(system) + 1 != len(input) or tools:
                raise UnsupportedPrompt("send one user message, optionally after system messages, without tools")
            schema = ReplySchema(asked.json_schema.model_dump(exclude_none=True, by_alias=True)) if asked else None
            question = read_question(users[0], "\n".join(system), schema)
        except UnsupportedPrompt as error:
            raise JudgeError(no_form(error)) from None
        text, outputs = await answer_question(self._service(config), question)
        counts = {
            name: sum(int((output.usage or {}).get(name, 0)) for output in outputs)
            for name in ("input_tokens", "output_tokens")
        }
        found = ModelOutput.from_content(self.model_name, text)
        found.usage = ModelUsage(**counts, total_tokens=sum(counts.values()))
        return found

    def max_tokens(self) -> int | None:
        return None  # the judge's own limit, not Inspect's 2,048

    def max_connections(self) -> int:
        return CONCURRENCY

    async def aclose(self) -> None:
        for service in self._services.values():
            service.close()


@modelapi(name="judge_r1")
def judge_r1() -> type[ModelAPI]:
    """The provider `judge_r1`."""
    return JudgeAPI


@metric
def ci95() -> Metric:
    """The 95 % interval of the accuracy over the clusters that `cluster_id` in the metadata of the samples names."""

    def bounds(scores: Sequence[SampleScore]) -> dict[str, float]:
        clusters = [str((one.sample_metadata or {}).get(CLUSTER) or one.sample_id) for one in scores]
        low, high = clustered_mean_ci([one.score.as_float() for one in scores], clusters)
        return {"ci95_low": low, "ci95_high": high}

    return bounds


@metric
def valid_rate() -> Metric:
    """The share of valid verdicts among those on prompts that the model could read, or among all if there is none."""

    def share(scores: Sequence[SampleScore]) -> float:
        about = [one.score.metadata or {} for one in scores]
        about = [one for one in about if one.get(FITS) is not False] or about
        return sum(one.get(VALID) is not False for one in about) / len(about)

    return share


__all__ = ["ci95", "episode", "judge_r1", "judged", "pairs", "pairwise", "valid_rate", "verdict"]
