"""Reward models as judges: `scalar@MODEL`, a sequence classifier whose one output is the score of an answer.

MODEL is a folder or a hub name, read here, or `vllm:URL#MODEL`, vLLM's pooling API (`vllm serve MODEL --runner
pooling`). The model's chat template shows the request, with the case before it where there is one, as the user's
message and the answer as the assistant's, as for the classifiers of RewardBench.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import Any

from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import PROMPT_TOO_LONG, Judgment, ScoresVerdict
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.task import PairwiseTask
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.yaml_config import read_options
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, JudgeOutput, PromptOverflow
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.runners import PostingJudge, PostingOptions, as_finished
from judge_r1.judges.scoring import ScoringJudge
from judge_r1.models.hub import load_tokenizer, resolve
from judge_r1.models.open_model import is_chat, is_local
from judge_r1.models.pretrained import classifier


def parts_of(request: JudgeRequest) -> list[str]:
    """The texts of the user's message and, last, the answer."""
    task = request.task
    assert isinstance(task, PairwiseTask)
    shown = "\n\n".join(passage.text for passage in task.passages) or task.context
    return [*filter(None, (shown, task.decision)), task.reasoning_a]


def scalar_ids(tokenizer: SafeTokenizer, parts: Sequence[str]) -> list[int]:
    """What a classifier reads of the texts of the user's message and, last, the answer. The chat template is trusted
    and the texts are not: no text acts as a control token."""
    marks = [f"\ue000{number}\ue001" for number in range(len(parts))]
    messages = [
        {"role": "user", "content": "\n\n".join(marks[:-1])}, {"role": "assistant", "content": marks[-1]},
    ]  # fmt: skip
    rendered = tokenizer.hf.apply_chat_template(messages, tokenize=False)
    ids: list[int] = []
    for text, inserted in Prompt((), tuple(parts)).pieces(rendered):
        ids += tokenizer.encode_untrusted(text) if inserted else tokenizer.encode_trusted(text, first=not ids)
    return ids


class LocalScalar:
    """A classifier that is loaded at the first request. Texts are read one by one: padding would move the token that
    the head reads in models whose end token pads.

    Raises: BadJudge for a head with another number of outputs than one.
    """

    def __init__(self, build: JudgeBuild) -> None:
        self.name, self.settings = f"scalar@{build.backend}", dict[str, Any]()
        self._source, self._lock = resolve(build.backend), threading.Lock()
        self._tokenizer = SafeTokenizer(load_tokenizer(build.backend))

    @cached_property
    def _model(self) -> Any:
        model, outputs = classifier(self._source)
        if outputs != 1:
            raise BadJudge(
                f"judge {self.name}: its head has {outputs} outputs, and the score of an answer is one number"
            )
        return model

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        _ = self._model

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, 1)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        return await asyncio.to_thread(self._judged, request)

    def _judged(self, request: JudgeRequest) -> JudgeOutput:
        with self._lock:  # a server asks from several threads
            return self._read(request)

    def _read(self, request: JudgeRequest) -> JudgeOutput:
        ids = scalar_ids(self._tokenizer, parts_of(request))
        limit = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        if limit is not None and len(ids) > limit:
            trajectory = Trajectory.without_ids(PROMPT_TOO_LONG)
            return JudgeOutput(request, trajectory, request.read(trajectory), overflow=PromptOverflow(len(ids), limit))
        return _output(request, self._score(ids), {"calls": 1, "input_tokens": len(ids)})

    def _score(self, ids: Sequence[int]) -> float:
        import torch

        with torch.inference_mode():
            found = self._model(torch.tensor([list(ids)], device=self._model.device)).logits
        return float(found[0, 0])


class PoolingScalar(PostingJudge):
    """A classifier behind vLLM's pooling API, without the activation of its head."""

    def __init__(self, build: JudgeBuild) -> None:
        own = read_options(PostingOptions, build.options, "judge scalar")
        super().__init__("scalar", build, "pooling", timeout_s=own.timeout)

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def answer(self, request: JudgeRequest) -> JudgeOutput:
        *asked, answer = parts_of(request)
        messages = [{"role": "user", "content": "\n\n".join(asked)}, {"role": "assistant", "content": answer}]
        body = {"messages": messages, "use_activation": False, "add_generation_prompt": False}
        outputs, tokens = await self.post(body, _read)
        if len(outputs) != 1:
            raise BadJudge(
                f"judge {self.name}: its head has {len(outputs)} outputs, and the score of an answer is one number"
            )
        return _output(request, outputs[0], {"calls": 1, "input_tokens": tokens})


def _read(reply: Any) -> tuple[list[float], int]:
    [entry] = reply["data"]
    values = entry["data"]
    return [float(value) for value in values], int((reply.get("usage") or {}).get("prompt_tokens") or 0)


def _output(request: JudgeRequest, score: float, usage: dict[str, float]) -> JudgeOutput:
    verdict = ScoresVerdict(scores=(score,))
    return JudgeOutput(request, Trajectory.without_ids("answer", (), Judgment(verdict=verdict)), verdict, usage=usage)


def _make(build: JudgeBuild) -> Judge:
    if build.options and is_local(build.backend):
        raise BadJudge(f"judge scalar has no options for a model that is loaded here: remove {build.options[0]}")
    if is_chat(build.backend):
        raise BadJudge(f"scalar@{build.backend} is a chat endpoint: write scalar@vllm:URL#MODEL for the pooling API")
    return ScoringJudge(LocalScalar(build) if is_local(build.backend) else PoolingScalar(build))


JUDGES.register("scalar")(
    JudgeKind(
        "a reward model: one number for each answer alone; a folder, a hub name, or vllm:URL#MODEL", _make, served=_make
    )
)
