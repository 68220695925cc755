"""From labels to a result on disk: what `labels check` and `labels gate` run, and the plan of `--dry-run`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record
from judge_r1.core.spec import parse_spec
from judge_r1.core.text_check import counted
from judge_r1.files.file_lock import lock_folder
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import check_models, parse_panel
from judge_r1.labels.ask import ask, item_of
from judge_r1.labels.check import CheckResult, Options, check
from judge_r1.labels.decision import Requirement, default_requirements, power
from judge_r1.labels.gold import gold_of
from judge_r1.labels.output import write_result
from judge_r1.labels.rows import Labels
from judge_r1.labels.verdicts import JudgeVerdicts, verdicts_of_file
from judge_r1.models.base import Sampling

MANY = 300
"""From this number of items on, each question is asked once."""
Prices = Mapping[str, Callable[[int, int], float]]
"""Model -> the price in USD of tokens of input and output."""


class Asking(Record):
    """How judges are asked: `pool` asks about items without a label, too, `resume` only what the folder lacks."""

    repeats: int | None = None
    orders: int = 2
    temperature: float = 0.0
    seed: int = 0
    batch_size: int = 32
    pool: bool = False
    resume: bool = False

    def times(self, labels: Labels) -> int:
        return self.repeats or (3 if len(labels.items) < MANY else 1)


def checked(
    labels: Labels, specs: Sequence[str], out: Path, asking: Asking, required: Sequence[Requirement], options: Options,
    prices: Prices | None = None,
) -> CheckResult:  # fmt: skip
    """The result of asking judges, or without `specs` of the verdicts in the file. It is written to `out`.

    Raises:
        JudgeError: Judges have the same name, or a model has no price.
        BadJudge, BadLabels, EndpointError, NoAnswers: As `ask` and `check` raise them.
    """
    with lock_folder(out):
        found = _asked(labels, specs, out, asking, prices) if specs else [verdicts_of_file(labels)]
        result = check(labels, found, requirements=required, options=options)
        write_result(out, result, labels)
    return result


def _asked(
    labels: Labels, specs: Sequence[str], out: Path, asking: Asking, prices: Prices | None
) -> list[JudgeVerdicts]:
    names = [parse_panel(spec).name for spec in specs]
    if len(set(names)) < len(names):
        raise JudgeError("two judges have the same name: name each of them, as in --judge NAME=direct@MODEL")
    for spec in specs:
        check_models(spec)
    costs = {} if prices is None else {spec: _price(spec, prices) for spec in specs}
    build = JudgeBuild("", sampling=Sampling(asking.temperature, asking.seed), batch_size=asking.batch_size)
    items = [*labels.items, *(labels.pool if asking.pool else ())]
    found = []
    for spec in specs:
        judge = ask(
            labels, items, spec, out, repeats=asking.times(labels), orders=asking.orders, resume=asking.resume,
            build=build,
        )  # fmt: skip
        if spec in costs:
            usage = judge.asked["usage"]
            judge.asked["usd"] = costs[spec](int(usage.get("input_tokens", 0)), int(usage.get("output_tokens", 0)))
        found.append(judge)
    return found


def _price(spec: str, prices: Prices) -> Callable[[int, int], float]:
    """The price of a judge's model. Raises: JudgeError if it has none, or if its members have several models."""
    backends = {parse_spec(member).backend for member in parse_panel(spec).members}
    models = sorted({backend.rpartition("#" if "#" in backend else ":")[2] for backend in backends})
    if len(models) > 1 or models[0] not in prices:
        raise JudgeError(f"--prices has no single price for {', '.join(models)}: list the model of one judge")
    return prices[models[0]]


def plan(labels: Labels, specs: Sequence[str], asking: Asking, required: Sequence[Requirement] = ()) -> Iterator[str]:
    """What was understood of the labels, and what a check would ask, line by line."""
    gold, scheme = gold_of(labels), labels.scheme
    counts = gold.counts(scheme)
    yield f"{labels.path}: {counted(len(labels.items), 'item')} with labels, {len(labels.pool)} without"
    yield f"kind: {scheme.kind}" + (f"; answers {', '.join(scheme.answers)}" if scheme.answers else "")
    if scheme.kind == "binary":
        yield f"good: {scheme.answers[0]}"
    yield "classes: " + ", ".join(f"{label} {count}" for label, count in counts.items())
    yield f"people: {', '.join(labels.people)}; contested items: {len(gold.contested)}"
    yield f"clusters: {len({item.cluster for item in labels.items})}"
    yield "columns: " + ", ".join(f"{ours} = {yours}" for ours, yours in sorted(labels.columns.items()))
    yield "a judge sees: " + ", ".join(sorted({name for item in labels.items for name in item.texts}))
    yield from (f"note: {note}" for note in labels.notes)
    yield "requirements: " + ", ".join(map(str, required or default_requirements(scheme)))
    if scheme.kind == "binary":
        for rate, (trusted, refused) in power(counts, 0.8, (0.95, 0.9, 0.8)).items():
            yield (
                f"a judge that is right in {rate:.2f} of each class: trusted in {trusted:.2f} of such checks, not "
                f"trusted in {refused:.2f}, else undecided"
            )
    items = [*labels.items, *(labels.pool if asking.pool else ())]
    each = asking.times(labels) * (asking.orders if scheme.kind == "pairwise" else 1)
    letters = sum(len(text) for one in items for text in [item_of(one).instruction, *item_of(one).texts])
    for spec in specs:
        yield f"{spec}: {len(items) * each} requests, about {letters * each // 4} tokens of items beside the prompt"
