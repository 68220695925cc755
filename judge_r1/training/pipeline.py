"""Trains the stages of a recipe in order, each into its own run folder."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.core.text_check import counted
from judge_r1.episode.case_retriever import build_index
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import write_json
from judge_r1.files.pair_set import PairSet
from judge_r1.files.run_log import DataRecord, ExamplesRecord
from judge_r1.files.strict_json import read_model
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.data.training_pairs import dev_pairs, file_hashes, training_pairs
from judge_r1.training.distributed import is_main, is_ours, is_worker, say, worker
from judge_r1.training.launcher import launch
from judge_r1.training.preemption import Preempted, StopRequest, save_on_sigterm
from judge_r1.training.preflight.packages import check_environment, described
from judge_r1.training.ray_launcher import launch_on_ray
from judge_r1.training.recipe import Recipe
from judge_r1.training.resources import LOCAL, Resources, check_resources, check_supported
from judge_r1.training.run_folder import RunFolder, finished, has_progress, refuse_other_run
from judge_r1.training.stage_graph import StageRun, remaining_stages
from judge_r1.training.verl.supervisor import exit_on_sigterm

if TYPE_CHECKING:
    from judge_r1.training.cost_estimate import Gpu

RationaleWriter = Callable[[Recipe, PairSet, SafeTokenizer], tuple[list[Trajectory], Counter[str]]]
"""Returns the rationales of a recipe and the number of rejected ones by reason.

The writers live in `data_builders`, which imports this package, so callers pass one in."""


def run_stages(
    stages: Sequence[StageRun],
    resources: Resources = LOCAL,
    *,
    rationales: RationaleWriter | None = None,
    on_stage: Callable[[Recipe, Path], None] = lambda recipe, folder: None,
) -> bool:
    """Train every unfinished stage of `stages` (see `stage_graph.stage_runs`), calling `on_stage` before each. Return
    False if the last one is finished already.

    Raises:
        JudgeError: A stage cannot run with these resources, or its data are missing. Nothing is written in that case.
    """
    todo = remaining_stages(stages)
    if is_worker() and sum(not finished(folder) for _, folder in todo) > 1:
        raise JudgeError(
            f"recipe {stages[-1][0].name} starts from {todo[-2][0].name}, which is not trained yet: torchrun "
            "trains one recipe at a time, so train that one first, or use --processes"
        )
    check_resources(stages, resources)
    for recipe, folder in todo:
        refuse_other_run(folder, recipe)
    if not is_worker():
        check_environment([recipe for recipe, folder in todo if not finished(folder)])
    for recipe, folder in todo:
        on_stage(recipe, folder)
        trained = _run_stage(recipe, folder, resources, rationales)
    return trained


def estimate_costs(stages: Sequence[StageRun], resources: Resources, command: str, gpu: str | None = None) -> list[str]:
    """Describe what the stages cost on GPUs named `gpu` (default: those of this machine), and the command that runs
    them, as comment lines.

    Raises:
        JudgeError: A stage cannot run with these resources.
    """
    import torch

    from judge_r1.training.cost_estimate import GPUS, MACHINE_GPUS, detected
    from judge_r1.training.verl.check_keys import can_check, check_keys

    check_supported(stages, resources)
    gpus = resources.gpus_per_node or torch.cuda.device_count() or MACHINE_GPUS
    with_keys = [recipe for recipe, _ in stages if recipe.grpo.verl]
    for recipe in with_keys if can_check() else ():
        check_keys(recipe, gpus, resources.nodes)
    lines = report(stages, command, gpus, resources.nodes, GPUS[gpu] if gpu else detected())
    environment = described([recipe for recipe, _ in remaining_stages(stages)], gpu=gpu is not None)
    lines += ["#", "# this environment:", *(f"#   {line}" for line in environment)]
    if with_keys and not can_check():
        lines.append("# grpo.verl is not checked here: that needs verl (pip install 'judge-r1[verl]')")
    return lines


def report(stages: Sequence[StageRun], command: str, gpus: int, nodes: int = 1, gpu: "Gpu | None" = None) -> list[str]:
    """The cost of each stage on `nodes` machines with `gpus` GPUs each, and the command, as comment lines of YAML, so
    that the output of a dry run is still a recipe."""
    from judge_r1.training.cost_estimate import costs
    from judge_r1.training.verl.runner import shell_command

    lines, model, todo = list[str](), stages[0][0].model, remaining_stages(stages)
    for recipe, folder in stages:
        lines += ["", f"{recipe.name}: {recipe.stage} from {recipe.model}, in {folder}"]
        try:
            if (recipe, folder) in todo:
                refuse_other_run(folder, recipe)
        except JudgeError as error:
            lines.append(f"  not possible: {error}")
        else:
            if finished(folder) or (recipe, folder) not in todo:
                why = "its model" if finished(folder) else "a model trained from it"
                lines.append(f"  {why} exists already: this stage is skipped")
                continue
        if saved := checkpoints(folder / "checkpoints", recipe.updates):
            lines.append(f"  continues after step {saved[-1].step}; the costs are those of the whole run")
        lines += [f"  {line}" for line in costs(recipe, model, gpus, nodes, gpu)]
    lines += ["", "command:", f"  {command}"]
    last, folder = stages[-1]
    if nodes == 1:
        engine = " grpo.engine=verl" if last.stage == "grpo" and not last.on_verl else ""
        lines += [
            "on two nodes (`nodes: 2` in the cluster file; add --nodes 2 --gpus-per-node N here to estimate them):",
            f"  judge-r1 launch RECIPE --cluster clusters/slurm.yaml{engine}",
        ]
    if last.on_verl:
        where = "of one machine" if nodes == 1 else f"on each of {nodes} nodes of the Ray cluster at RAY_ADDRESS"
        lines.append(f"With {counted(gpus, 'GPU')} {where}, it writes verl's input files and runs:")
        lines += [f"  {line}" for line in shell_command(last, folder, gpus, nodes)]
    return [f"# {line}".rstrip() for line in lines]


def run_recipe(
    recipe: Recipe, folder: Path, resources: Resources = LOCAL, *, rationales: RationaleWriter | None = None
) -> bool:
    """Train one resolved recipe into `folder` and return True, or return False if its model exists already.

    With several processes, this one starts the others and waits for them. SFT on rationales needs `rationales`.

    Raises:
        JudgeError: Another process trains into the folder, among other reasons.
        Preempted: The run was asked to stop (SIGTERM), and has saved a checkpoint.
    """
    check_resources([(recipe, folder)], resources)
    return _run_stage(recipe, folder, resources, rationales)


def _run_stage(recipe: Recipe, folder: Path, resources: Resources, rationales: RationaleWriter | None) -> bool:
    import torch

    # The one process of the run that locks and listens to signals. Those that it starts inherit the lock.
    first = is_main() and not is_ours()
    with lock_folder(folder) if first else nullcontext():
        run = RunFolder(folder, recipe)
        if first and has_progress(folder):
            _refuse_changed_data(recipe, folder)
        if finished(folder):
            return False
        request = StopRequest(folder)
        with request.armed() if first else nullcontext():
            count = resources.processes_for(recipe)
            several = count > 1 or recipe.deepspeed is not None or torch.cuda.device_count() > 1
            if recipe.stage == "grpo" or is_worker() or not (several or resources.nodes > 1):
                with worker():
                    _train(recipe, run, resources, rationales)
            else:
                with exit_on_sigterm(), save_on_sigterm(request):
                    if resources.nodes > 1:
                        launch_on_ray(recipe, folder, resources.nodes, count)
                    else:
                        launch(folder, count)
                if request and not finished(folder):
                    raise Preempted(folder)
        return True


def _refuse_changed_data(recipe: Recipe, folder: Path) -> None:
    """Compare the data files with those that the run has recorded. Missing data are not compared.

    Raises: JudgeError if a file has changed, or the record has another form.
    """
    file = folder / DataRecord.NAME
    recorded = read_model(DataRecord, file).files if file.exists() else {}
    for role, hashes in file_hashes(recipe).items():
        for name, digest in hashes.items():
            if recorded.get(role, {}).get(name, digest) != digest:
                raise JudgeError(
                    f"{getattr(recipe.data, role) / name} has changed since the run in {folder} began: choose another "
                    "--out, or restore the file"
                )


def _train(recipe: Recipe, run: RunFolder, resources: Resources, rationales: RationaleWriter | None) -> None:
    """Train in this process, or start verl and wait for it."""
    import torch

    from judge_r1.training.progress_lines import progress_lines
    from judge_r1.training.trl.dpo import train_dpo
    from judge_r1.training.trl.grpo import train_grpo
    from judge_r1.training.trl.sft import train_sft

    say(f"reading the pairs of {recipe.data.train}")
    data = training_pairs(recipe.data.train)
    # of several processes, the first one writes the rationales, and the others read them
    if is_main() and (recipe.stage == "grpo" or (recipe.stage == "sft" and recipe.sft.form == "rationales")):
        searched = [recipe.data.train, *([recipe.data.dev] if recipe.data.dev and recipe.stage == "grpo" else [])]
        for folder in searched:
            build_index(folder, recipe.episode, gpus=torch.cuda.is_available())
    if is_main():
        record = DataRecord(pairs=len(data.pairs), cases=len(data.cases), files=file_hashes(recipe))
        write_json(run.folder / DataRecord.NAME, record.model_dump())
    say(f"loading {'verl' if recipe.on_verl else 'TRL'} and {recipe.model}")
    with progress_lines(run):
        if recipe.on_verl:
            from judge_r1.training.verl.runner import train_verl

            cpu = not torch.cuda.is_available()
            train_verl(
                recipe, recipe.data.train, run, cpu=cpu, nodes=resources.nodes, gpus_per_node=resources.gpus_per_node
            )
        elif recipe.stage == "grpo":
            train_grpo(recipe, data, run)
        elif recipe.stage == "dpo":
            train_dpo(recipe, data, run)
        else:
            dev = dev_pairs(recipe, data)
            train_sft(
                recipe,
                lambda: _sft_examples(recipe, data, run.folder, rationales),
                run,
                None if dev is None else lambda: _dev_examples(recipe, dev, rationales),
            )


def _sft_examples(
    recipe: Recipe, data: PairSet, folder: Path, rationales: RationaleWriter | None
) -> Sequence[Trajectory]:
    """The trajectories that SFT trains on. Writes their number and the rejections to examples.json."""
    examples, rejected = _write_examples(recipe, data, rationales)
    record = ExamplesRecord(used=len(examples), rejected=dict(sorted(rejected.items())))
    write_json(folder / ExamplesRecord.NAME, record.model_dump())
    wanted = recipe.sft.examples or len(examples) + rejected.total()
    if len(examples) < wanted:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(rejected.items()))
        print(f"{len(examples)} of {counted(wanted, 'wanted example')}; rejected: {reasons or 'none'}")
    return examples


def _dev_examples(recipe: Recipe, data: PairSet, rationales: RationaleWriter | None) -> Sequence[Trajectory]:
    """The trajectories of the dev pairs, in the form that SFT trains on. Pairs that do not fit are left out."""
    # `sft.examples` limits what is trained on, not what is evaluated on.
    every = recipe.model_copy(update={"sft": recipe.sft.model_copy(update={"examples": None})})
    return _write_examples(every, data, rationales)[0]


def _write_examples(
    recipe: Recipe, data: PairSet, rationales: RationaleWriter | None
) -> tuple[list[Trajectory], Counter[str]]:
    from judge_r1.models.hub import load_tokenizer
    from judge_r1.training.data.single_turn_data import judgment_examples

    tokenizer = load_tokenizer(recipe.model)
    if recipe.sft.form != "rationales":
        return judgment_examples(data, recipe, SafeTokenizer(tokenizer), tokenizer.eos_token_id), Counter()
    if rationales is None:
        raise ValueError(f"recipe {recipe.name} trains on rationales: pass `rationales` to write them")
    return rationales(recipe, data, SafeTokenizer(tokenizer))
