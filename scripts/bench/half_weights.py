"""Compares judges whose weights are in float16 (`judge_r1.models.cpu.half_weights`) with those in float32.

    OMP_NUM_THREADS=1 python -m scripts.bench.half_weights \\
        agentic@runs/demo/grpo/model runs/demo/data/test runs/english/pairs

A local judge judges pairs of the first folder: `equal` verdicts, and `texts` to the last token. SmolLM2 reads pairs of
the second: `equal` verdicts, and the largest difference of a verdict token's log-probability, in nats.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.files.pair_set import load_pairs
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.base import Sampling
from judge_r1.models.cpu import half_weights
from scripts.bench.output import Row, parser_of, write_rows


def build(folder: Path, limit: int) -> tuple[JudgeBuild, Sequence[JudgeRequest]]:
    """What judges of the pairs of a folder are made with, and requests for the first of them."""
    benchmark = pair_benchmark(load_pairs(folder))
    return JudgeBuild("", texts=benchmark.texts, sampling=Sampling(0.0)), benchmark.requests()[:limit]


def verdicts(spec: str, folder: Path, limit: int) -> Row:
    sides = []
    for least in (0, float("inf")):  # a small model stays in float32
        with patch.object(half_weights, "LEAST", least):
            given, requests = build(folder, limit)
            sides.append({one.request.item.item_id: one for one in run_all(make_judge(spec, given), requests)})
    half, full = sides
    same = [
        (half[key].verdict == one.verdict, half[key].trajectory.token_ids == one.trajectory.token_ids)
        for key, one in full.items()
    ]
    return {"judge": spec, "pairs": len(same), "equal": sum(a for a, _ in same), "texts": sum(b for _, b in same)}


def logprobs(folder: Path, limit: int) -> Row:
    import torch

    from judge_r1.models.hub import load_model

    spec = "likelihood@bundled:smollm2-135m"
    given, requests = build(folder, limit)
    judge: Any = make_judge(spec, given)
    models = [load_model("bundled:smollm2-135m", sampling=sampling).eval() for sampling in (True, False)]

    def found() -> Iterator[Any]:
        for request in requests:
            ids = torch.tensor([[*judge._factory.make_episode(request).prompt_ids, *judge._begun]])
            with torch.inference_mode():
                yield torch.stack(
                    [model(ids, logits_to_keep=1).logits[0, -1].log_softmax(0)[list(judge._ids)] for model in models]
                )

    values = torch.stack(list(found()))
    same, most = (values.argmax(2)[:, 0] == values.argmax(2)[:, 1]).sum(), (values[:, 0] - values[:, 1]).abs().max()
    return {"judge": spec, "pairs": len(values), "equal": int(same), "largest difference": float(most)}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("judge", help="the SPEC of a local judge that answers")
    parser.add_argument("judged", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--verdicts", type=int, default=200)
    parser.add_argument("--read", type=int, default=20)
    options = parser.parse_args()
    rows = [verdicts(options.judge, options.judged, options.verdicts), logprobs(options.pairs, options.read)]
    columns = {key: "" for row in rows for key in row}
    write_rows(options.out, "half_weights", [columns | row for row in rows], vars(options))


if __name__ == "__main__":
    main()
