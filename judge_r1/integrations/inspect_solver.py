"""The agentic episode as a solver of Inspect: any of its models thinks, searches the case and answers.

    inspect eval judge_r1/pairs -T path=runs/medical/test --model openai/gpt-4o

A sample of another task needs `reasoning_a` and `reasoning_b` in its metadata, and may have `context` (the case),
`decision` and `domain` there. Its target is A or B.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError  # not exported: other errors are printed with a traceback
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config  # not exported: options of evaluation and task
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from rich.markup import escape

from judge_r1.core.case_store import CaseStore
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import INFRASTRUCTURE
from judge_r1.episode.case_retriever import CaseSearcher, searches_vectors, shared_embedder
from judge_r1.episode.config import EpisodeConfig, recipe_episode, with_options
from judge_r1.files.pair_set import load_pairs
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.request import TokenLimits
from judge_r1.judges.result import request_of, result_of
from judge_r1.judges.runners import ChatJudge
from judge_r1.models.base import GenerateRequest, Generation, Sampling, Usage
from retrieval.errors import RetrievalError

FIELDS = ("reasoning_a", "reasoning_b", "context", "decision", "domain")
FINISHED = {"stop": "stop", "max_tokens": "length", "model_length": "context_overflow"}
WINNER, REASON, PRINCIPLES = "judge_r1:winner", "judge_r1:reason", "judge_r1:principles"
"""Names in the store: the verdict, why there is none, and the principles that the worse candidate violates."""
_MESSAGES: dict[str, Callable[..., ChatMessage]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class InspectModel:
    """A `LanguageModel` on a model of Inspect, which retries and counts its calls. A message keeps its id in the later
    calls of an episode: readers of the log know it by that."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.said: list[ChatMessage] = []

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        return [await self._one(request) for request in requests]

    async def _one(self, request: GenerateRequest) -> Generation:
        config = GenerateConfig(
            max_tokens=request.max_tokens, temperature=request.temperature, stop_seqs=list(request.stop) or None
        )
        messages = [self.message(place, **one) for place, one in enumerate(request.messages or ())]
        output = await self._model.generate(messages, config=config)
        self.said = [*messages, output.message]
        content = output.message.content
        parts = [] if isinstance(content, str) else [part for part in content if isinstance(part, ContentReasoning)]
        used = output.usage
        tokens = Usage(calls=1, input_tokens=used.input_tokens, output_tokens=used.output_tokens) if used else Usage(1)
        return Generation(
            text=output.completion,
            reasoning="\n".join(part.reasoning for part in parts),
            finish_reason=FINISHED.get(output.stop_reason, output.stop_reason),
            usage=tokens,
        )

    def message(self, place: int, role: str, content: str) -> ChatMessage:
        """The message at a place of the conversation. In later calls, the model's answers lack their thoughts."""
        known = place < len(self.said) and self.said[place].role == role
        same = known and (role == "assistant" or self.said[place].text == content)
        return _MESSAGES[role](content=content, id=self.said[place].id if same else None)


@contextmanager
def _errors_of_inspect() -> Iterator[None]:
    """Inspect prints this kind of error as its sentence, and others with their traceback."""
    try:
        yield
    except (JudgeError, RetrievalError) as error:
        raise PrerequisiteError(f"error: {escape(str(error))}") from error


@solver
def episode(recipe: str | None = None, retriever: str | None = None, searches: int | None = None) -> Solver:
    """Judges the pair in the metadata of a sample by an episode with search. `--max-tokens` limits each of its turns.

    Args:
        recipe: A recipe with the episode settings.
        retriever: `bm25`, an embedder or a retrieval server; by default that of the recipe.
        searches: The searches that an episode may make.
    """
    chosen = {"retriever": retriever, "budget.max_searches": searches}
    with _errors_of_inspect():
        config = recipe_episode(Path(recipe)) if recipe else EpisodeConfig()
        config = with_options(config, [f"{name}={value}" for name, value in chosen.items() if value is not None])
        loaded = shared_embedder(config.retriever, config.retriever_device) if searches_vectors(config) else None

    class Searcher(CaseSearcher):
        """Keeps the embedder, so that samples share it. One that cannot be loaded ends the evaluation before them."""

        embedder = loaded

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        cases = CaseStore()
        fields = {name: str(state.metadata[name]) for name in FIELDS if state.metadata.get(name) is not None}
        if missing := {"reasoning_a", "reasoning_b"} - fields.keys():
            raise ValueError(
                f"sample {state.sample_id} lacks {min(missing)} in its metadata: the episode judges a pair"
            )
        request = request_of(f"{state.sample_id}/{state.epoch}", cases, **fields)
        model = get_model()
        given = model.config.merge(active_generate_config())
        limits = TokenLimits(response_tokens=given.max_tokens).options
        build = JudgeBuild("", texts=cases, searcher=Searcher, sampling=Sampling(given.temperature or 0.0))
        with _errors_of_inspect():
            limited = with_options(config, [f"{name}={value}" for name, value in limits.items()])
        asked = InspectModel(model)
        judge = ChatJudge("episode", asked, build, limited)
        judge.check([request])
        [output] = [output async for output in judge.judge([request])]
        trajectory = output.trajectory
        first = next((place for place, one in enumerate(asked.said) if one.role == "assistant"), 0)
        texts = [one for turn in trajectory.turns for one in (("assistant", turn.text), ("user", turn.observation))]
        told = [(role, text) for role, text in texts if text is not None]
        state.messages += [asked.message(place, *one) for place, one in enumerate(told, first)]
        text = trajectory.turns[-1].text if trajectory.turns else ""
        state.output = ModelOutput.from_content(str(state.model), text)
        result = result_of(output)
        state.store.set(WINNER, result.winner)
        state.store.set(REASON, None if result.valid else result.ended)
        state.store.set(PRINCIPLES, list(result.violated_principles))
        state.completed = True
        return state

    return solve


@scorer(metrics=[accuracy(), stderr(cluster="cluster_id")])
def verdict() -> Scorer:
    """1 if the verdict of `episode` is the target, 0 if it is another or the answer is not valid, which the metadata
    say. A sample is unscored if the episode did not run, or ended by an infrastructure failure."""

    async def score(state: TaskState, target: Target) -> Score:
        if WINNER not in state.store:
            return Score.unscored(reason="the solver judge_r1/episode did not judge the sample")
        winner, reason = state.store.get(WINNER), state.store.get(REASON)
        if reason and reason.startswith(INFRASTRUCTURE):
            return Score.unscored(reason=reason)
        about = {"valid": reason is None, "violated_principles": state.store.get(PRINCIPLES)}
        return Score(value=float(winner == target.text), answer=winner, explanation=reason, metadata=about)

    return score


@task
def pairs(path: str, recipe: str | None = None, retriever: str | None = None) -> Task:
    """The labelled pairs of a folder, judged by episodes."""
    with _errors_of_inspect():
        data = load_pairs(Path(path))
    samples = [
        Sample(
            id=pair.pair_id,
            input=data.case_of(pair).decision,
            target=pair.preferred,
            metadata={
                "reasoning_a": pair.reasoning_a,
                "reasoning_b": pair.reasoning_b,
                "context": data.case_of(pair).context,
                "decision": data.case_of(pair).decision,
                "domain": pair.domain,
                "group": pair.domain,
                "cluster_id": pair.case_id,
            },
        )
        for pair in data.pairs
    ]
    return Task(dataset=MemoryDataset(samples), solver=episode(recipe, retriever), scorer=verdict())
