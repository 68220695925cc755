"""Logs of Inspect: written by evaluations, and read by the commands that take scores of anybody."""

import json
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from evaluation_factories import ScriptedJudge, digit, toy_pairs, toy_suite
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer, chat_completion
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.cli.eval import eval_
from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.evaluation.calibrate import calibrate, evaluation_confidences, read_confidences
from judge_r1.evaluation.inspect_logs import read_scores
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.rating.pipeline import run_rating
from judge_r1.evaluation.rating.slices import RatingOptions
from judge_r1.evaluation.rating.vote_files import read_votes
from judge_r1.files.jsonl import write_jsonl
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest
from judge_r1.labels.people import count_answers, read_answers

inspect_ai = pytest.importorskip("inspect_ai", reason="the inspect_ai package is in the extra dev")
PAIRS = toy_pairs(6)


class Confident(ScriptedJudge):
    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        async for output in super().judge(requests):
            sure = 0.5 + digit(output.request.item.item_id, "sure", sides=50) / 100
            yield output._replace(confidence=None if isinstance(output.verdict, InvalidVerdict) else sure)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated")
    with Evaluation(toy_suite(PAIRS), out, resume=False, inspect_logs=True) as evaluation:
        for name, skill in (("weak", 4), ("strong", 8), ("other", 6)):
            evaluation.run(lambda name=name, skill=skill: JudgePanel(name, (Confident(name, skill),)))
        evaluation.finish([])
    return out


def log_of(scores: Sequence[Any], folder: Path, *, model: str = "openai/gpt", epochs: int = 1, **about: Any) -> Path:
    """A log of samples with these scores: a `Score`, a value, or a mapping of scorers; those of its epochs follow
    each other."""
    log, scorer = inspect_ai.log, inspect_ai.scorer
    samples = []
    for number, given in enumerate(scores, 1):
        by_name = given if isinstance(given, dict) and "value" not in given else {"grader": given}
        made = {k: v if isinstance(v, scorer.Score) else scorer.Score(value=v) for k, v in by_name.items()}
        metadata = {key: values[number - 1] for key, values in about.items()}
        item, epoch = divmod(number - 1, epochs)
        samples.append(
            log.EvalSample(id=item + 1, epoch=epoch + 1, input="q", target="a", scores=made, metadata=metadata)
        )
    spec = log.EvalSpec(
        created="2026-01-01T00:00:00+00:00", task="quiz", dataset=log.EvalDataset(name="quiz"), model=model,
        config=log.EvalConfig(),
    )  # fmt: skip
    path = folder / f"{model.replace('/', '-')}.eval"
    log.write_eval_log(log.EvalLog(status="success", eval=spec, samples=samples), path)
    return path


def test_inspect_reads_the_samples_scores_and_turns_of_an_evaluation(evaluated: Path) -> None:
    listed = inspect_ai.log.list_eval_logs(str(evaluated / "logs"))
    assert sorted(Path(info.name).stem for info in listed) == ["other", "strong", "weak"]
    log = inspect_ai.log.read_eval_log(evaluated / "logs" / "strong.eval", resolve_attachments=True)
    assert (log.status, log.eval.model, log.eval.task) == ("success", "judge_r1/strong", "lrbench")
    summary = json.loads((evaluated / "summary.json").read_text())
    [row] = [row for row in summary["rows"] if row["name"] == "strong"]
    assert log.results.scores[0].metrics["accuracy"].value == row["accuracy"]
    outcomes = [json.loads(line) for line in (evaluated / "outcomes.jsonl").read_text().splitlines()]
    expected = {one["item_id"]: one["score"] for one in outcomes if one["judge"] == "strong"}
    assert {sample.id: sample.scores["judge_r1"].value for sample in log.samples} == expected
    pairs = {pair.pair_id: pair for pair in PAIRS}
    for sample in log.samples:
        pair, judge = pairs[sample.id], Confident("strong", 8)
        assert (sample.target, sample.choices) == (pair.preferred, [pair.reasoning_a, pair.reasoning_b])
        asked, *turns = sample.messages
        assert pair.reasoning_a in asked.text
        said = [message.text for message in turns if message.role == "assistant"]
        assert said == [turn.text for turn in judge.one(pair).turns]
        shown = [message.text for message in turns if message.role == "user"]
        assert shown == [passage.text for turn in judge.one(pair).turns for passage in turn.passages]


def test_ratings_confidences_and_intervals_are_those_of_the_evaluation(evaluated: Path, tmp_path: Path) -> None:
    options = RatingOptions("all", 0.0, 0.05, False, False, frozenset(), 2, 0)

    def elo(paths: Sequence[Path], name: str) -> dict[str, Any]:
        votes = read_votes(paths)
        run_rating(votes, options, tmp_path / name)
        rating = json.loads((tmp_path / name / "rating.json").read_text())
        rows = rating["slices"][0]["judges"]
        invalid = {judge.removeprefix("judge_r1/"): share for judge, share in rating["invalid"].items()}
        found = {row["judge"].removeprefix("judge_r1/"): (row["elo"], row["ci95"]) for row in rows}
        return found | {"invalid": invalid}

    assert elo([evaluated / "logs"], "logs") == elo([evaluated], "folder")
    assert elo([evaluated], "again")["invalid"]["weak"] > 0
    for judge in ("weak", "strong"):
        rows = read_confidences(evaluated / "logs" / f"{judge}.eval")
        assert sorted(map(str, rows)) == sorted(map(str, evaluation_confidences(evaluated, judge, "token")))
        calibrate(rows)
    summary = json.loads((evaluated / "summary.json").read_text())
    counted = count_answers(read_answers([evaluated / "logs" / "strong.eval"]))["judge_r1/strong"]
    [row] = [row for row in summary["rows"] if row["name"] == "strong"]
    assert counted["mean"] == pytest.approx(row["accuracy"] / row["valid_rate"])
    assert counted["answers"] == pytest.approx(row["valid_rate"] * len(PAIRS))


def test_logs_of_others_with_letters_epochs_keys_and_unscored_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    score = inspect_ai.scorer.Score
    path = log_of(["C", "I", "P", True, 0.25, "N", score(value=math.nan)], tmp_path)
    assert [one.value for one in read_scores(path)] == [1.0, 0.0, 0.5, 1.0, 0.25, 0.0]
    assert "1 score is missing" in capsys.readouterr().err
    assert [one.item for one in read_scores(path)][:2] == ["quiz/1", "quiz/2"]
    both = log_of([{"human": "C", "model": "C"}, {"human": "I", "model": "C"}] * 3, tmp_path, model="m/two")
    counted = count_answers(read_answers([both]))["m/two"]
    assert counted["people"] == {"human": 0.5, "model": 1.0}
    assert counted["pairs"]["human - model"]["equal"] == 0.5
    with pytest.raises(JudgeError, match=r"choose one with --scorer \(human, model\)"):
        read_votes([both])
    assert read_votes([both], scorer="human").answers["m/two"] == 6
    keys = log_of([score(value={"tone": 1, "facts": 0})], tmp_path, model="m/keys")
    assert {one.scorer: one.value for one in read_scores(keys)} == {"grader/tone": 1.0, "grader/facts": 0.0}


def test_scores_that_stand_for_no_verdict_are_no_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = inspect_ai.scorer.Score(value=0.0, metadata={"valid": False})
    path = log_of([none, "C", "C", "I", none, none], tmp_path, epochs=2)
    answers = read_answers([path])
    assert [(one.id, one.value) for one in answers] == [("quiz/1", 1.0), ("quiz/2", 0.5)]
    assert "1 score is missing, because the verdict is not valid" in capsys.readouterr().err
    assert [(item, score) for _, item, score in read_votes([path]).votes][:2] == [("quiz/1", 1.0), ("quiz/2", 0.5)]
    assert read_votes([path]).invalid["openai/gpt"] == 1


def test_samples_of_a_cluster_widen_the_interval(tmp_path: Path) -> None:
    scores = ["C"] * 10 + ["I"] * 10
    alone = log_of(scores, tmp_path, model="m/alone")
    together = log_of(scores, tmp_path, model="m/together", cluster_id=[f"case {n // 5}" for n in range(20)])
    widths = [
        high - low for path in (alone, together) for own in count_answers(read_answers([path])).values()
        for low, high in [own["ci95"]]
    ]  # fmt: skip
    assert widths[1] > 1.5 * widths[0]


@pytest.mark.parametrize(("value", "says"), [("A>B", "no number from 0 to 1"), (7, "no number from 0 to 1")])
def test_scores_without_a_meaning_are_errors(value: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=says):
        read_scores(log_of(["C", value], tmp_path))


def test_files_that_are_no_log_and_logs_without_confidence(tmp_path: Path) -> None:
    (tmp_path / "broken.eval").write_text("not a zip")
    with pytest.raises(JudgeError, match="no log of Inspect that can be read"):
        read_scores(tmp_path / "broken.eval")
    with pytest.raises(JudgeError, match="no answer with a confidence"):
        read_confidences(log_of(["C", "I"], tmp_path))
    sure = [inspect_ai.scorer.Score(value=v, metadata={"confidence": c}) for v, c in (("C", 0.9), ("I", 0.4))]
    rows = read_confidences(log_of(sure, tmp_path, model="m/sure"))
    assert [(row.confidence, row.correct) for row in rows] == [(0.9, True), (0.4, False)]


def test_invalidated_samples_are_left_out_and_a_run_that_did_not_end_is_noted(tmp_path: Path) -> None:
    score, logs = inspect_ai.scorer.Score, inspect_ai.log
    given = [("C", 0.9), ("I", 0.4), ("C", 0.7), ("I", 0.2)]
    path = log_of([score(value=value, metadata={"confidence": sure}) for value, sure in given], tmp_path)
    other = log_of(["I", "C", "I", "C"], tmp_path, model="m/other")
    log = logs.read_eval_log(path)
    log.status, log.samples[1].uuid = "cancelled", "second"
    why = logs.ProvenanceData(author="me", reason="a wrong target")
    logs.write_eval_log(logs.invalidate_samples(log, ["second"], why), path)
    says = [f"{path}: the run was cancelled: the log has only the 4 samples so far",
            f"{path}: 1 sample is invalidated: left out"]  # fmt: skip
    written = {}
    for command, file in (("agreement", "a.json"), ("calibrate", "calibration.json"), ("rate", "rating.json")):
        out = tmp_path / file if command == "agreement" else tmp_path
        files = [path, other] if command == "rate" else [path]
        result = CliRunner().invoke(app, [command, *map(str, files), "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert [line for line in result.output.splitlines() if "note: " in line] == [f"note: {note}" for note in says]
        written[command] = json.loads((tmp_path / file).read_text())
        assert written[command]["notes"] == says
    assert written["agreement"]["groups"]["openai/gpt"]["mean"] == pytest.approx(2 / 3)
    assert written["calibrate"]["n"] == 3


def recomputed(path: Path) -> dict[str, float]:
    """The metrics that Inspect computes again, in a folder of its own: in that of a clone it takes the package for one
    that is not installed, and its metrics for others."""
    code = (
        "import json, sys; from inspect_ai.log import read_eval_log, recompute_metrics; "
        "log = read_eval_log(sys.argv[1]); recompute_metrics(log); "
        "print(json.dumps({n: m.value for n, m in log.results.scores[0].metrics.items()}))"
    )
    done = subprocess.run([sys.executable, "-c", code, path], cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_inspect_computes_tables_and_metrics_of_the_log_of_an_evaluation(tmp_path: Path) -> None:
    from inspect_ai.analysis import events_df, messages_df, samples_df

    data = mini_pairs(12)
    write_jsonl(tmp_path / "data" / "cases.jsonl", data.cases.values())
    write_jsonl(tmp_path / "data" / "pairs.jsonl", data.pairs)
    wrong = [pair.reasoning_a for pair in data.pairs[:3]]

    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        asked = body["messages"][1]["content"]
        return chat_completion("no idea" if any(text in asked for text in wrong) else '{"comparison": "A>B"}')

    with JudgeServer(reply) as server:
        specs = [f"asked=direct:context=none@{server.url}#toy", "longer"]
        eval_(judge=specs, path=tmp_path / "data", out=tmp_path / "eval", log_format="inspect")
    rows = {row["name"]: row for row in json.loads((tmp_path / "eval" / "summary.json").read_text())["rows"]}
    for name in ("asked", "longer"):
        row, path = rows[name], tmp_path / "eval" / "logs" / f"{name}.eval"
        log = inspect_ai.log.read_eval_log(path)
        before = {metric: found.value for metric, found in log.results.scores[0].metrics.items()}
        assert recomputed(path) == before
        assert [before["ci95_low"], before["ci95_high"]] == row["ci95"]
        assert (before["accuracy"], before["valid_rate"]) == (row["accuracy"], row["valid_rate"])
        messages, events, samples = (table(str(path), quiet=True) for table in (messages_df, events_df, samples_df))
        assert len(samples) == row["n"]
        assert set(messages["role"]) == {"user", "assistant"}
        assert list(messages["content"]) == [message.text for sample in log.samples for message in sample.messages]
        assert len(events) == sum(message.role == "assistant" for s in log.samples for message in s.messages)
        assert bool(log.stats.model_usage) == (name == "asked")
    log = inspect_ai.log.read_eval_log(tmp_path / "eval" / "logs" / "asked.eval")
    [usage] = log.stats.model_usage.values()
    assert usage.output_tokens == sum(s.model_usage[log.eval.model].output_tokens for s in log.samples) > 0
    assert usage.output_tokens == sum(event.output.usage.output_tokens for s in log.samples for event in s.events)
    assert 0 < rows["asked"]["valid_rate"] < 1
