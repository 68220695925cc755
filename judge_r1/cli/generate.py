"""generate: let a model answer the instructions of a benchmark, so that a judge can score its texts."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from judge_r1.cli.options import MAX_SEED
from judge_r1.core.text_check import counted


def generate(
    model: Annotated[str, typer.Option(help="A folder, a hub name, bundled:NAME, URL#MODEL or vllm:URL#MODEL.")],
    path: Annotated[Path, typer.Option(help="The benchmark's files (see `judge-r1 benchmarks`).")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    benchmark: Annotated[str, typer.Option(help="A benchmark of generated texts.")] = "hellobench",
    subset: Annotated[str | None, typer.Option(help="A part of the benchmark, such as a task.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Answer only N instructions, spread over the tasks.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="The longest response, in tokens.")] = 16384,
    temperature: Annotated[float, typer.Option(min=0, help="Sampling temperature; 0 is greedy decoding.")] = 0.8,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Sampling seed.")] = 0,
    batch_size: Annotated[int, typer.Option(min=1, help="Number of responses that run concurrently.")] = 32,
    resume: Annotated[bool, typer.Option("--resume", help="Generate only what OUT lacks.")] = False,
) -> None:
    """Generate responses to a benchmark's instructions. Writes files such as OUT/chat_results.jsonl.

    Responses that reach --max-tokens are kept and counted as `turn_budget`. The key of an endpoint comes from
    JUDGE_R1_JUDGE_KEY.

    Example: `judge-r1 generate --model http://localhost:8000/v1#writer --path PATH/HelloBench --out runs/writer`
    """
    from judge_r1.evaluation.generation import generate as run
    from judge_r1.evaluation.generation import make_generator, tasks_of
    from judge_r1.judges.base import JudgeBuild
    from judge_r1.models.base import Sampling

    console = Console(stderr=True)
    options = [f"budget.response_tokens={max_tokens}"]
    build = JudgeBuild(model, options, sampling=Sampling(temperature, seed), batch_size=batch_size)
    tasks = tasks_of(benchmark, path, subset, limit)
    counts = run(
        tasks, lambda: make_generator(build), out, resume=resume, show=lambda line: console.print(line, highlight=False)
    )
    ended = ", ".join(f"{count} {name}" for name, count in counts.items())
    console.print(f"{counted(len(tasks), 'response')} in {out}: {ended}", soft_wrap=True, markup=False)
