"""The Python API: load a judge by its SPEC and call it.

from judge_r1 import load_judge

judge = load_judge("agentic@runs/demo/grpo/model")
result = judge(context=..., decision=..., reasoning_a=..., reasoning_b=...)
print(result.winner, result.evidence)
"""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from inspect import signature
from itertools import count
from pathlib import Path

from judge_r1.core.case_store import CaseStore
from judge_r1.core.principles import GENERAL
from judge_r1.core.text_check import BadText
from judge_r1.judges.base import BadJudge, Judge, JudgeBuild, run_all
from judge_r1.judges.panel import make_judge
from judge_r1.judges.result import JudgeResult, request_of, result_of
from judge_r1.models.base import Sampling


class LoadedJudge:
    """A judge to call with one pair, or with several through `many`.

    Cases are stored by content: a case that several pairs share is indexed once. Calls also work inside a running
    event loop (Jupyter); they block it until the judgments are there.
    """

    def __init__(self, judge: Judge, cases: CaseStore) -> None:
        self.judge, self._cases, self._ids = judge, cases, count()

    @property
    def name(self) -> str:
        return self.judge.name

    def __call__(
        self, *, reasoning_a: str, reasoning_b: str, context: str = "", decision: str = "", domain: str = GENERAL
    ) -> JudgeResult:
        """Judges one pair.

        Args:
            reasoning_a: The first candidate.
            reasoning_b: The second candidate.
            context: The case. The judge may search it.
            decision: The decision made in the case, or the request that the candidates answer.
            domain: `legal`, `medical`, `academic`, or `general` for answers to a request.
        """
        pair = {"reasoning_a": reasoning_a, "reasoning_b": reasoning_b, "context": context}
        return self.many([pair | {"decision": decision, "domain": domain}])[0]

    def many(self, pairs: Iterable[Mapping[str, str]], *, progress: bool = True) -> list[JudgeResult]:
        """Judges several pairs concurrently. Each pair is a mapping with the argument names of a call. `progress` shows
        on standard error how many are done, if it takes more than a few seconds.

        Raises:
            BadJudge: A pair has an unknown name or lacks a required one.
            BadText: A value is not a valid text, or the domain is not a lower-case name.
            CaseStoreFull: The cases together exceed the case store. Split the pairs into several calls.
        """
        with ExitStack() as pins:  # storing a later case must not evict an earlier one
            requests = []
            for number, pair in enumerate(pairs):
                try:
                    _CALL.bind(self, **pair)
                except TypeError as error:
                    raise BadJudge(f"pair {number} of many: {error}; valid names: {_NAMES}") from None
                try:
                    requests.append(request := request_of(f"{next(self._ids)}", self._cases, **pair))
                except BadText as error:
                    raise BadText(f"pair {number}: {error}") from None
                pins.enter_context(self._cases.pin(request.item.case_id))
            outputs = run_all(self.judge, requests, progress=progress) if requests else []
            return [result_of(output) for output in outputs]


_CALL = signature(LoadedJudge.__call__)
_NAMES = ", ".join([*_CALL.parameters][1:])


def load_judge(
    spec: str, *, recipe: str | Path | None = None, temperature: float = 0.0, seed: int = 0, batch_size: int = 32
) -> LoadedJudge:
    """Loads the judge of a SPEC (`judge-r1 eval --help` lists them).

    Args:
        spec: `NAME[:options]@BACKEND`, for example `agentic@runs/demo/grpo/model`.
        recipe: A recipe file whose episode settings the judge uses.
        temperature: Sampling temperature; 0 is greedy.
        seed: Seed of the sampling.
        batch_size: Episodes that run concurrently.

    Raises:
        JudgeError: The SPEC is not valid or its model cannot be loaded.
    """
    cases = CaseStore()
    sampling, recipe_path = Sampling(temperature, seed), Path(recipe) if recipe else None
    build = JudgeBuild("", texts=cases, sampling=sampling, batch_size=batch_size, recipe=recipe_path)
    return LoadedJudge(make_judge(spec, build), cases)
