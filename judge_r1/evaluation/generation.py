"""Generates the responses that a benchmark of generated texts judges, on a local model or at an endpoint.

Every response is a line of `generations.jsonl` as soon as it is finished, so that a stopped run resumes. At the end
this file, in the order of the instructions, and the files of the benchmark's own format are written together.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BENCHMARKS, GenerationTask
from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import run_sync
from judge_r1.core.items import Item
from judge_r1.core.record_base import NonEmpty, Record, content_hash
from judge_r1.core.text_check import are, counted
from judge_r1.episode.prompts import user_prompt
from judge_r1.evaluation.selection import spread
from judge_r1.evaluation.vote_failures import final_vote
from judge_r1.files.append_log import AppendLog
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import AtomicFiles, dump_line, read_jsonl, write_json
from judge_r1.files.strict_json import read_model
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.backend_spec import judge_of_backend
from judge_r1.judges.base import Judge, JudgeBuild, JudgeOutput
from judge_r1.judges.checklist.judge import checklist_config
from judge_r1.judges.request import CustomPrompt, JudgeRequest, any_text

LOG, MANIFEST = "generations.jsonl", "generation.json"
COMPLETE, CUT = "answer", "turn_budget"
"""How a response ended that is kept: by itself, or at the limit of tokens."""


class GenerationError(JudgeError):
    """Responses that cannot be generated; the message says why and what to do."""


class Generated(Record):
    """One response. `ended` is `answer` if the model ended it, and `turn_budget` if the limit of tokens cut it; with
    any other value there is no response, and `response` is empty."""

    file: NonEmpty
    id: NonEmpty
    instruction: str
    response: str
    ended: NonEmpty

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.id


class _Manifest(Record):
    """generation.json: what the responses of a folder are of."""

    model: str
    settings: dict[str, Any]
    instructions: str


def tasks_of(benchmark: str, path: Path, subset: str | None, limit: int | None = None) -> Sequence[GenerationTask]:
    """The instructions of a benchmark, or `limit` of them, spread over its files. Raises: GenerationError if there is
    none."""
    entry = BENCHMARKS.get(benchmark)
    if entry.generation_tasks is None:
        known = ", ".join(name for name in BENCHMARKS.names() if BENCHMARKS.get(name).generation_tasks)
        raise GenerationError(f"benchmark {benchmark} judges texts that exist; responses are generated for {known}")
    if not (found := entry.generation_tasks(path, subset)):
        raise GenerationError(f"{path} holds no instruction of {benchmark} with the subset {subset or 'all'}")
    return found if limit is None else [found[index] for index in spread((task.file for task in found), limit)]


def make_generator(build: JudgeBuild) -> Judge:
    """The model of a backend (a folder, a hub name, `bundled:NAME`, `URL#MODEL`, `vllm:URL#MODEL`) as a judge that
    answers plain prompts."""
    return judge_of_backend(build, "generate", checklist_config, AgenticJudge, prompted=True)


def generate(
    tasks: Sequence[GenerationTask],
    make_model: Callable[[], Judge],
    out: Path,
    *,
    resume: bool,
    show: Callable[[str], None] = lambda line: None,
) -> dict[str, int]:
    """Writes the responses to `out` and returns how many ended in which way.

    Raises:
        GenerationError: `out` holds other responses, or the model failed on some: run again with `resume`.
    """
    with lock_folder(out):
        model = make_model()
        done = _begin(out, model, tasks, resume=resume)
        missing = [task for task in tasks if (task.file, task.id) not in done]
        requests = [_request(task) for task in missing]
        run_sync(_run(model, requests, missing, out / LOG, done, len(tasks), show))
        if failed := [task for task in tasks if (task.file, task.id) not in done]:
            raise GenerationError(
                f"{len(failed)} of {counted(len(tasks), 'response')} {are(len(failed))} missing, such as "
                f"{failed[0].id}: the model failed there; run again with --resume"
            )
        ordered = [done[task.file, task.id] for task in tasks]
        _write_results(out, ordered)
    return {ended: sum(one.ended == ended for one in ordered) for ended in sorted({one.ended for one in ordered})}


async def _run(
    model: Judge,
    requests: Sequence[JudgeRequest],
    tasks: Sequence[GenerationTask],
    log: Path,
    done: dict[tuple[str, str], Generated],
    total: int,
    show: Callable[[str], None],
) -> None:
    if not requests:
        return
    by_key = {request.key: task for request, task in zip(requests, tasks, strict=True)}
    model.check(requests)
    unanswered: list[JudgeOutput] = []
    kept = "the finished responses are kept for a run with --resume"
    with AppendLog(log, outcome=kept) as appending:

        def add(output: JudgeOutput) -> None:
            found = _generated(by_key[output.request.key], output)
            appending.append(dump_line(found).encode())
            done[found.key] = found
            show(f"{len(done)}/{counted(total, 'response')}")

        async for output in model.judge(requests):
            if not output.trajectory.infrastructure_failed:
                add(output)
            elif output.trajectory.unanswered:
                unanswered.append(output)
        for output in unanswered if done else ():  # the server answers others: these are final
            add(final_vote(output))


def _request(task: GenerationTask) -> JudgeRequest:
    item = Item(
        item_id=f"{task.file}/{task.id}", cluster_id=task.id, instruction=task.instruction, candidates=("",), gold=None
    )
    return JudgeRequest(item, (0,), 0, CustomPrompt(user_prompt(task.instruction), any_text))


def _generated(task: GenerationTask, output: JudgeOutput) -> Generated:
    ended, turns = output.trajectory.ended, output.trajectory.turns
    text = turns[-1].text if turns and ended in (COMPLETE, CUT) else ""
    return Generated(file=task.file, id=task.id, instruction=task.instruction, response=text, ended=ended)


def _begin(
    out: Path, model: Judge, tasks: Sequence[GenerationTask], *, resume: bool
) -> dict[tuple[str, str], Generated]:
    """Checks that `out` may take these responses, notes the model there, and returns the responses that it has."""
    own = content_hash(sorted((task.file, task.id, task.instruction) for task in tasks))
    manifest = _Manifest(model=model.name, settings=model.settings, instructions=own)
    log, file = out / LOG, out / MANIFEST
    if file.exists() and log.exists():
        before = read_model(_Manifest, file)
        if changed := [key for key, value in manifest if getattr(before, key) != value]:
            raise GenerationError(
                f"{out} holds responses from before a change of the {' and '.join(changed)}: choose another --out"
            )
    if log.exists() and not resume:
        raise GenerationError(f"{out} holds responses already: add --resume to continue, or choose another --out")
    write_json(file, manifest.model_dump(mode="json"))
    if not log.exists():
        return {}
    with AppendLog(log) as appending:
        appending.mend()
    found = {one.key: one for one in read_jsonl(log, Generated)}
    asked = {(task.file, task.id) for task in tasks}
    return {key: one for key, one in found.items() if key in asked}


def _write_results(out: Path, generated: Sequence[Generated]) -> None:
    files = {name: out / name for name in dict.fromkeys(one.file for one in generated)}
    with AtomicFiles(out / LOG, *files.values()) as writing:
        for one in generated:
            writing.write(out / LOG, dump_line(one))
            row = {"id": one.id, "instruction": one.instruction, "response": one.response}
            writing.write(files[one.file], dump_line(row))
