"""A judge as a model of Inspect: `--model judge_r1/SPEC`, such as `judge_r1/direct@https://host/v1#model`.

It answers the prompts of `/v1/chat/completions` (docs/serve.md): it grades for `model_graded_qa` and
`model_graded_fact`, and tasks that measure judges run on it as they are. A prompt with none of these forms, and a
judgment that failed, are errors of the sample.
"""

from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from judge_r1.core.errors import JudgeError
from judge_r1.judges.request import TokenLimits
from judge_r1.models.base import Sampling

CONCURRENCY = 16


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
