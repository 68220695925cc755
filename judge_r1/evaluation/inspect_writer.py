"""Writes an evaluation as logs of Inspect (.eval), one for each judge, through Inspect's own API.

A sample is an item: its score is that of the item, its messages and events are the episodes of all votes, and its
metadata hold the votes. An item without an answer of the server is unscored. `judge_r1.evaluation.inspect_logs` reads
such logs.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import InvalidVerdict, describe_verdict, letter
from judge_r1.core.version import __version__
from judge_r1.evaluation.calibrate import confidence
from judge_r1.evaluation.inspect_logs import CLUSTER, CONFIDENCE, FITS, GROUP, SUFFIX, VALID
from judge_r1.evaluation.results import PanelResults, split_usage, total_usage
from judge_r1.evaluation.votes import StoredVote
from judge_r1.files.partial_files import file_names, staged_folder

LOGS = "logs"
"""The folder of the logs in an evaluation."""
SCORER = "judge_r1"
_SCORERS: Any = [
    {"name": SCORER, "metrics": [{"name": name} for name in ("accuracy", "judge_r1/ci95", "judge_r1/valid_rate")]}
]
"""The metrics by which Inspect computes the results again (`judge_r1.integrations.inspect_plugin`)."""


def check_inspect() -> None:
    """Raises: JudgeError if Inspect is not installed."""
    try:
        import inspect_ai.log  # noqa: F401
    except ModuleNotFoundError:
        raise JudgeError("--log-format inspect needs inspect-ai: pip install 'judge-r1[inspect]'") from None


def write_logs(
    out: Path, results: Mapping[str, PanelResults], summary: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Writes `out`/logs/JUDGE.eval for each judge, all or none. One log at a time is in memory."""
    from inspect_ai.log import write_eval_log

    rows = {row["name"]: row for row in summary["rows"]}
    with staged_folder(out) as folder:
        (folder / LOGS).mkdir(parents=True)
        for name, file in file_names(results).items():
            log = _log(results[name], rows[name], summary, settings[name])
            write_eval_log(log, folder / LOGS / f"{file}{SUFFIX}")


def _log(found: PanelResults, row: Mapping[str, Any], summary: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
    from inspect_ai import log

    now = datetime.now(timezone.utc)
    created = now.isoformat(timespec="seconds")
    task, model = str(summary["benchmark"]), f"judge_r1/{found.panel}"
    items = {item.item_id: item for item in found.benchmark.items}
    samples = [
        _sample(items[result.item_id], result, found.votes[result.item_id], model, now) for result in found.items
    ]
    usage: dict[str, Any] = {}
    for sample in samples:
        for name, own in sample.model_usage.items():
            usage[name] = usage[name] + own if name in usage else own
    low, high = row["ci95"]
    measures = {"accuracy": row["accuracy"], "ci95_low": low, "ci95_high": high, "valid_rate": row["valid_rate"]}
    scored = sum(result.answered for result in found.items)
    score = log.EvalScore(
        name=SCORER,
        scorer=SCORER,
        scored_samples=scored,
        unscored_samples=len(samples) - scored,
        metrics={name: log.EvalMetric(name=name, value=value) for name, value in measures.items()},
    )
    spec = log.EvalSpec(
        run_id=content_hash(created, model, task),
        task_id=content_hash(model, task),
        created=created,
        task=task,
        dataset=log.EvalDataset(name=task, samples=len(samples), sample_ids=[sample.id for sample in samples]),
        model=model,
        config=log.EvalConfig(),
        scorers=_SCORERS,
        packages={"judge-r1": __version__},
        metadata={"settings": dict(settings), "subset": summary["subset"]},
    )
    return log.EvalLog(
        status="success",
        eval=spec,
        results=log.EvalResults(total_samples=len(samples), completed_samples=len(samples), scores=[score]),
        stats=log.EvalStats(started_at=created, completed_at=created, model_usage=usage),
        samples=samples,
    )


def _sample(item: Item, result: ItemResult, votes: Sequence[StoredVote], model: str, now: datetime) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput

    answer = describe_verdict(result.verdict)
    votes = sorted(votes, key=lambda stored: stored.place)
    told = [_messages(item, stored) for stored in votes]
    total = total_usage(stored.usage for stored in votes)
    usage, replies = _usage(total), split_usage(total)[1]
    return EvalSample(
        id=item.item_id,
        epoch=1,
        uuid=content_hash(now.isoformat(), model, item.item_id),
        input=item.instruction,
        choices=list(item.texts),
        target=[str(gold) for gold in item.gold] if isinstance(item.gold, list | tuple) else str(item.gold),
        messages=[message for messages in told for message in messages],
        events=[event for stored, own in zip(votes, told, strict=True) for event in _events(stored, own, model, now)],
        output=ModelOutput.from_content(model, answer),
        scores={SCORER: _score(result, votes, answer)},
        model_usage={model: usage} if usage else {},
        metadata={
            CLUSTER: item.cluster_id,
            GROUP: item.group,
            "case_id": item.case_id,
            "votes": [vote.model_dump(mode="json") for vote in result.votes],
            **({"replies": replies} if replies else {}),
        },
    )


def _usage(found: Mapping[str, float] | None) -> Any:
    from inspect_ai.model import ModelUsage

    tokens = {name: int((found or {}).get(name, 0)) for name in ("input_tokens", "output_tokens")}
    return ModelUsage(**tokens, total_tokens=sum(tokens.values())) if found else None


def _events(stored: StoredVote, messages: Sequence[Any], model: str, now: datetime) -> Iterator[Any]:
    """A call of the model for each turn. The last one has the usage of the vote."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import GenerateConfig, ModelOutput

    turns = [place for place, message in enumerate(messages) if message.role == "assistant"]
    for place in turns:
        output = ModelOutput.from_message(messages[place])
        output.model, output.usage = model, _usage(stored.usage) if place == turns[-1] else None
        yield ModelEvent(
            model=model, input=list(messages[:place]), output=output, tools=[], tool_choice="none",
            config=GenerateConfig(), timestamp=now, working_start=0.0,
        )  # fmt: skip


def _score(result: ItemResult, votes: Sequence[StoredVote], answer: str) -> Any:
    from inspect_ai.scorer import Score

    judgments = [stored.trajectory.judgment for stored in votes if stored.trajectory.judgment]
    explanation = next((judgment.explanation for judgment in judgments if judgment.explanation), None)
    about: dict[str, Any] = {VALID: result.valid, CONFIDENCE: confidence(result, "token")}
    if any(isinstance(vote.verdict, InvalidVerdict) and vote.verdict.does_not_fit for vote in result.votes):
        about |= {FITS: False}
    if result.labels is not None:
        about |= {"labels": result.labels.model_dump(mode="json")}
    if not result.answered:
        reason = next(
            vote.verdict.reason
            for vote in result.votes
            if isinstance(vote.verdict, InvalidVerdict) and vote.verdict.unanswered
        )
        return Score.unscored(reason=reason, answer=answer, metadata=about)
    return Score(value=result.score, answer=answer, explanation=explanation, metadata=about)


def _messages(item: Item, stored: StoredVote) -> list[Any]:
    """The question as it was shown, without the case, and the turns. What the judge was shown after a turn is a user
    message. A judge without turns answers with its verdict."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

    shown = [f"{letter(place)}:\n{item.texts[index]}" for place, index in enumerate(stored.order)]
    found: list[Any] = [ChatMessageUser(content="\n\n".join([item.instruction, *shown]))]
    for turn in stored.trajectory.turns:
        found.append(ChatMessageAssistant(content=turn.text))
        if observed := turn.observation or turn.notice or "\n\n".join(passage.text for passage in turn.passages):
            found.append(ChatMessageUser(content=observed))
    return found if len(found) > 1 else [*found, ChatMessageAssistant(content=describe_verdict(stored.verdict))]
