"""Peak memory and processor time of an evaluation by the number of its episodes, with a judge that answers at once.

    python -m scripts.bench.eval_memory
    python -m scripts.bench.eval_memory --episodes 20000 300000
    python -m scripts.bench.eval_memory --episodes 1000 5000 --inspect    # beside inspect_ai with the same items

The items are made when they are read, so the numbers are those of the evaluation alone: requests, votes, results,
summary and report. Every size runs in a fresh process. `judging_MB` is the peak until the last episode is judged.
"""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.items import Item
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import Comparison, Judgment
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.files.arrays.positions import LazySequence
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest
from scripts.bench.output import Row, parser_of, write_rows


class Instant:
    """Answers at once, with a search and 60 tokens."""

    def __init__(self) -> None:
        self.name, self.settings = "instant", dict[str, Any]()

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            preferred: Comparison = "A>B" if _digest(request.item.item_id)[0] < "a" else "A<B"
            searched = Turn(text="<search>q</search>", query="q", observation="x")
            turns = (searched, Turn(text=f"<answer>{preferred}</answer>"))
            trajectory = Trajectory(
                prompt_ids=tuple(range(300)), token_ids=tuple(range(60)), loss_mask=(1,) * 60, logprobs=(-0.25,) * 60,
                turns=turns, judgment=Judgment.pairwise(preferred, (2,)), ended="answer",
            )  # fmt: skip
            yield JudgeOutput(request, trajectory, request.read(trajectory), 0.75)


def item(number: int) -> Item:
    """An item of a cluster of three."""
    return Item(
        item_id=_digest(f"item {number}"), cluster_id=_digest(f"cluster {number // 3}"),
        group=("legal", "medical")[number // 3 % 2], instruction=f"Which is better, {number}?",
        candidates=(f"answer {number} one", f"answer {number} two"), gold="AB"[number % 2],
    )  # fmt: skip


def measure(episodes: int) -> Row:
    """One evaluation."""
    started = process_time()
    benchmark = LoadedBenchmark(LazySequence(range(episodes), item))
    with (
        tempfile.TemporaryDirectory(prefix="bench-eval-memory-") as name,
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()),
        Evaluation(benchmark, Path(name), resume=False) as evaluation,
    ):
        evaluation.run(lambda: JudgePanel("row", (Instant(),)))
        judging = _peak_mb()
        evaluation.finish([])
    seconds = process_time() - started
    return {
        "harness": "judge_r1",
        "episodes": episodes,
        "judging_MB": judging,
        "peak_MB": _peak_mb(),
        "seconds": seconds,
    }


def measure_inspect(episodes: int) -> Row:
    """The same items in inspect_ai: one answer without a search, from a model that answers at once."""
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    def answer(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm", "A")
        output.usage = ModelUsage(input_tokens=300, output_tokens=60)  # without it, mockllm downloads a vocabulary
        return output

    started = process_time()
    samples = [
        Sample(
            id=one.item_id,
            input=f"{one.instruction}\nA: {one.candidates[0]}\nB: {one.candidates[1]}",
            target=one.gold or "",
        )
        for one in map(item, range(episodes))
    ]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match())
    with tempfile.TemporaryDirectory(prefix="bench-eval-memory-") as name:
        [log] = run(task, model=get_model("mockllm/model", custom_outputs=answer), log_dir=name, display="none")
    assert log.status == "success"
    return _row("inspect_ai", episodes, started)


def _row(harness: str, episodes: int, started: float) -> Row:
    return {"harness": harness, "episodes": episodes, "peak_MB": _peak_mb(), "seconds": process_time() - started}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _peak_mb() -> float:
    return getrusage(RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--episodes", type=int, nargs="+", default=[1_000, 20_000, 100_000])
    parser.add_argument("--inspect", action="store_true", help="measure inspect_ai, too")
    options = parser.parse_args()
    harnesses = (measure, measure_inspect) if options.inspect else (measure,)
    with get_context("spawn").Pool(1, maxtasksperchild=1) as fresh_process:
        rows = [fresh_process.apply(harness, (count,)) for count in options.episodes for harness in harnesses]
    write_rows(options.out, "eval_memory", rows, vars(options))


if __name__ == "__main__":
    main()
