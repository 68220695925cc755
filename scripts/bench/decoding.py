"""Times one sampled token of a batch, with the attention of transformers and with that of `grouped_attention`.

    OMP_NUM_THREADS=1 python -m scripts.bench.decoding
    OMP_NUM_THREADS=1 python -m scripts.bench.decoding --model bundled:tiny --rows 4 --tokens 8

Both sides take turns, and the tokens must be equal. Times are processor seconds of one thread.
"""

import time
from contextlib import nullcontext
from random import Random
from statistics import median
from typing import Any
from unittest.mock import patch

import torch

from judge_r1.core.errors import JudgeError
from judge_r1.models import batch
from judge_r1.models.base import GenerateRequest
from judge_r1.models.batch import ContinuousBatch, RunningRequest
from judge_r1.models.grouped_attention import grouped_heads
from judge_r1.models.hub import load_model, load_tokenizer
from scripts.bench.output import Row, draw_bars, parser_of, write_rows

SIDES: dict[str, Any] = {"transformers": lambda model: nullcontext(), "grouped": grouped_heads}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--model", default="bundled:smollm2-135m")
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--prompt", type=int, default=400, help="tokens of the shortest prompt")
    parser.add_argument("--tokens", type=int, default=40, help="sampled tokens of each row")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    if given.tokens < 2:
        parser.error("--tokens must be 2 or more: the first token is sampled from the prompt")
    torch.set_num_threads(1)
    model, tokenizer = load_model(given.model), load_tokenizer(given.model)
    rng = Random(0)
    lengths = [given.prompt + row for row in range(given.rows)]  # rows of equal length need no mask
    prompts = [[rng.randrange(len(tokenizer)) for _ in range(length)] for length in lengths]
    seconds: dict[str, list[float]] = {name: [] for name in SIDES}
    sampled = set()
    for turn in range(1 + given.repeats):
        for name, attention in SIDES.items():
            with patch.object(batch, "grouped_heads", attention):
                running = ContinuousBatch(model, tokenizer.decode, [], pad_id=tokenizer.pad_token_id)
                requests = [RunningRequest(GenerateRequest(prompt_ids=p, max_tokens=given.tokens)) for p in prompts]
                running.admit(requests)
                started = time.process_time()
                while running.busy:
                    running.step()
            if turn:  # the first turn warms up
                seconds[name].append((time.process_time() - started) / (given.tokens - 1))  # the prompt gives the first
            sampled.add(tuple(tuple(request.ids) for request in requests))
    if len(sampled) > 1:
        raise JudgeError("the two attentions sampled other tokens")
    rows: list[Row] = [
        {"attention": name, "ms_per_step": 1000 * median(found), "lowest": 1000 * min(found)}
        | {"highest": 1000 * max(found), "times": median(seconds["transformers"]) / median(found)}
        for name, found in seconds.items()
    ]
    write_rows(given.out, "decoding", rows, vars(given))
    draw_bars(given.out / "decoding.svg", {row["attention"]: row["ms_per_step"] for row in rows}, x="ms for one token")


if __name__ == "__main__":
    main()
