"""The scorer, the solver, the task and the model provider of judge_r1 in real Inspect evaluations."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from evaluation_factories import toy_case, toy_pairs
from fake_judge_endpoint import JudgeServer, chat_completion
from paths import REPO

from judge_r1.files.jsonl import write_jsonl

inspect_ai = pytest.importorskip("inspect_ai", reason="the inspect_ai package is in the extra dev")
PAIRS = toy_pairs(3, [(1,), (2,)])


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def model(answers: Sequence[str]) -> Any:
    outputs = [inspect_ai.model.ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    for output in outputs:
        output.usage = inspect_ai.model.ModelUsage(input_tokens=7, output_tokens=3)  # else it downloads a vocabulary
    return inspect_ai.model.get_model("mockllm/model", custom_outputs=outputs)


def run(task: Any, answers: Sequence[str], folder: Path) -> Any:
    [log] = inspect_ai.eval(
        task, model=model(answers), log_dir=str(folder), display="none", max_samples=1, max_connections=1
    )
    return log


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "pairs"
    folder.mkdir()
    write_jsonl(folder / "cases.jsonl", [toy_case(n).model_dump(mode="json", by_alias=True) for n in range(3)])
    write_jsonl(folder / "pairs.jsonl", [pair.model_dump(mode="json", by_alias=True) for pair in PAIRS])
    return folder


def test_the_solver_searches_the_case_and_its_verdict_is_scored(data: Path, tmp_path: Path) -> None:
    from inspect_ai.analysis import messages_df

    from judge_r1.evaluation.inspect_logs import read_scores
    from judge_r1.integrations.inspect_plugin import pairs
    from judge_r1.traces import read_events

    def answer(comparison: str) -> str:
        return f'<think>so</think><answer>{{"comparison": "{comparison}", "violated_principles": [2]}}</answer>'

    right = [pair.gold.comparison or "" for pair in PAIRS]
    wrong = {"A>B": "A<B", "A<B": "A>B"}
    replies = []
    for number, comparison in enumerate(right):  # the stop string is left out, as servers do
        said = answer(comparison) if number < 3 else answer(wrong[comparison]) if number < 5 else "no idea"
        replies += ["<think>look</think><search>Witness 1 paid", said]
    log = run(pairs(str(data), retriever="bm25"), replies, tmp_path / "logs")
    assert log.status == "success", log.error
    samples = {sample.id: sample for sample in log.samples}
    scores = [samples[pair.pair_id].scores["verdict"] for pair in PAIRS]
    assert [score.value for score in scores] == [1, 1, 1, 0, 0, 0]
    assert [score.metadata["valid"] for score in scores] == [True] * 5 + [False]
    first = samples[PAIRS[0].pair_id]
    roles = [message.role for message in first.messages]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert "<search>Witness 1 paid</search>" in first.messages[1].text
    assert "Witness 1 of file 0 paid 21 crowns." in first.messages[2].text
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    before = log.results.model_dump()["scores"]
    inspect_ai.log.recompute_metrics(log)
    assert log.results.model_dump()["scores"] == before
    assert len(messages_df(log.location, quiet=True)) == 5 * len(PAIRS)
    told = list(read_events(Path(log.location), number=1))
    assert [event.role for event in told] == ["system", "user", "assistant", "user", "assistant", "user"], "input last"
    assert {one.cluster for one in read_scores(Path(log.location))} == {pair.case_id for pair in PAIRS}


def test_a_sample_without_a_pair_is_an_error(tmp_path: Path) -> None:
    from judge_r1.integrations.inspect_plugin import episode, verdict

    sample = inspect_ai.dataset.Sample(input="q", target="A", metadata={"reasoning_a": "a"})
    log = run(inspect_ai.Task(dataset=[sample], solver=episode(retriever="bm25"), scorer=verdict()), ["x"], tmp_path)
    assert (log.status, "lacks reasoning_b" in log.error.message) == ("error", True)


def test_a_failed_search_and_a_sample_without_an_episode_are_unscored(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_r1.episode.case_retriever import CaseSearcher
    from judge_r1.integrations.inspect_plugin import pairs, verdict

    def fail(*_: Any) -> None:
        raise OSError("the index is gone")

    monkeypatch.setattr(CaseSearcher, "search", fail)
    failed = run(pairs(str(data), retriever="bm25"), ["<search>Witness 1 paid"] * len(PAIRS), tmp_path / "failed")
    other = run(
        inspect_ai.Task(dataset=[inspect_ai.dataset.Sample(input="q", target="A")], scorer=verdict()), ["x"], tmp_path
    )
    for log, reason in ((failed, "infrastructure_search_error"), (other, "did not judge the sample")):
        assert (log.status, log.results.scores[0].unscored_samples) == ("success", len(log.samples))
        assert all(reason in sample.scores["verdict"].reason for sample in log.samples)


@pytest.mark.parametrize(
    ("answer", "judge", "value"),
    [
        ("a longer answer", "longer", 1.0),
        ("short", "longer", 0.0),
        ("any", "always-a", 0.5),
        ("a longer answer", "panel(longer|always-a)", 0.75),
    ],
)
def test_the_pairwise_scorer_takes_a_spec(answer: str, judge: str, value: float, tmp_path: Path) -> None:
    from judge_r1.integrations.inspect_plugin import pairwise

    task = inspect_ai.Task(dataset=[inspect_ai.dataset.Sample(input="q", target="two words")], scorer=pairwise(judge))
    log = run(task, [answer], tmp_path)
    assert log.samples[0].scores["pairwise"].value == value


def test_the_pairwise_scorer_shows_the_case_and_leaves_failed_judgments_unscored(tmp_path: Path) -> None:
    from judge_r1.integrations.inspect_plugin import pairwise

    with JudgeServer(lambda path, body: chat_completion("no verdict")) as server:
        sample = inspect_ai.dataset.Sample(input="q", target="t", metadata={"case": "Ana paid 34 crowns."})
        scorer = pairwise(f"direct@{server.url}/v1#m", context="case")
        log = run(inspect_ai.Task(dataset=[sample], scorer=scorer), ["an answer"], tmp_path)
        assert "Ana paid 34 crowns." in json.dumps(server.bodies)
    assert (log.status, log.results.scores[0].unscored_samples) == ("success", 1)
    assert "rejected" in str(log.samples[0].scores["pairwise"].reason)


def test_a_judge_is_a_model_that_answers_the_prompts_of_judges(tmp_path: Path) -> None:
    from judge_r1.integrations.inspect_plugin import judge_r1  # noqa: F401

    prompt = (
        'Answer "[[A]]" or "[[B]]".\n\n[User Question]\nq\n\n[The Start of Assistant A\'s Answer]\none\n'
        "[The End of Assistant A's Answer]\n\n[The Start of Assistant B's Answer]\none two\n"
        "[The End of Assistant B's Answer]"
    )
    dataset = [inspect_ai.dataset.Sample(input=text, target="[[B]]") for text in (prompt, "Why is the sky blue?")]
    task = inspect_ai.Task(dataset=dataset, scorer=inspect_ai.scorer.includes())
    [log] = inspect_ai.eval(
        task, model="judge_r1/panel(longer|longer)", log_dir=str(tmp_path), display="none", fail_on_error=False
    )
    judged, refused = log.samples
    assert judged.scores["includes"].value == "C"
    assert "no form that this judge answers" in refused.error.message
    assert "[User Question]" in refused.error.message


def test_the_temperature_and_the_tokens_of_an_evaluation_reach_the_model(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the solver and for the model, from the command and from the task; and their defaults otherwise."""
    from judge_r1.integrations.inspect_plugin import pairs

    monkeypatch.setenv("LOCAL_API_KEY", "none")
    prompt = '{"question": "q", "A": "one two", "B": "one"}'
    answer = '<answer>{"comparison": "A>B", "violated_principles": [1]}</answer>'
    options = {"temperature": 0.7, "max_tokens": 77}
    with JudgeServer(lambda path, body: chat_completion(answer)) as server:

        def asked(task: Any, model: str, **more: Any) -> set[Any]:
            server.bodies.clear()
            about: dict[str, Any] = {"log_dir": str(tmp_path / "logs"), "display": "none"}
            [log] = inspect_ai.eval(task, model=model, model_base_url=f"{server.url}/v1", **about, **more)
            assert log.status == "success", log.error
            return {(body["temperature"], body["max_tokens"]) for body in server.bodies}

        def quiz(**config: Any) -> Any:
            sample = inspect_ai.dataset.Sample(input=prompt, target="A")
            return inspect_ai.Task(
                dataset=[sample],
                scorer=inspect_ai.scorer.includes(),
                config=inspect_ai.model.GenerateConfig(**config),
            )

        solver, judge = "openai-api/local/m", f"judge_r1/direct@{server.url}/v1#m"
        assert asked(pairs(str(data), retriever="bm25"), solver, **options) == {(0.7, 77)}
        assert asked(pairs(str(data), retriever="bm25"), solver) == {(0.0, 1000)}
        assert asked(quiz(), judge, **options) == asked(quiz(**options), judge) == {(0.7, 77)}
        assert asked(quiz(), judge) == {(0.0, 16_384)}


def test_a_retriever_or_a_folder_that_cannot_be_had_is_one_error_before_the_samples(data: Path) -> None:
    from inspect_ai._util.error import PrerequisiteError
    from rich.text import Text

    from judge_r1.integrations.inspect_plugin import pairs

    def printed(path: Path, retriever: str) -> str:
        with pytest.raises(PrerequisiteError) as found:
            pairs(str(path), retriever=retriever)
        return Text.from_markup(str(found.value.message)).plain

    missing = printed(data, "none/[red]model")
    assert missing.startswith("error: embedder 'none/[red]model' cannot be loaded")
    assert missing.endswith("or retriever=bundled:e5-small, which needs no network")
    assert "nowhere does not exist" in printed(Path("nowhere"), "bm25")


@pytest.mark.slow
def test_the_commands_of_inspect_find_the_plugin(data: Path, tmp_path: Path) -> None:
    """Inspect takes the names of a package from a folder `site-packages`."""
    site = tmp_path / "site-packages"
    meta = site / "judge_r1-0.dist-info"
    meta.mkdir(parents=True)
    for name in ("judge_r1", "retrieval"):
        (site / name).symlink_to(REPO / name)
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: judge-r1\nVersion: 0\n")
    (meta / "entry_points.txt").write_text("[inspect_ai]\njudge_r1 = judge_r1.integrations.inspect_plugin\n")
    environment = os.environ | {"PYTHONPATH": str(site)}

    def inspect(*arguments: str) -> str:
        command = [sys.executable, "-m", "inspect_ai", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    answer = '<answer>{"comparison": "A>B", "violated_principles": [1]}</answer>'
    with JudgeServer(lambda path, body: chat_completion(answer)) as server:
        logs = ("--display", "plain", "--log-dir", "logs")
        address = ("--model", "openai-api/local/m", "--model-base-url", f"{server.url}/v1")
        environment |= {"LOCAL_API_KEY": "none"}
        inspect("eval", "judge_r1/pairs", "-T", f"path={data}", "-T", "retriever=bm25", *address, *logs)
        (tmp_path / "task.py").write_text(
            "from inspect_ai import Task, task\nfrom inspect_ai.dataset import Sample\n"
            "from inspect_ai.scorer import includes\n\n@task\ndef quiz():\n"
            '    text = \'{"question": "q", "A": "one two", "B": "one"}\'\n'
            '    return Task(dataset=[Sample(input=text, target=\'"winner": "A"\')], scorer=includes())\n'
        )
        inspect("eval", "task.py", "--model", f"judge_r1/direct@{server.url}/v1#m", *logs)
    by_model = {}
    for info in inspect_ai.log.list_eval_logs(str(tmp_path / "logs")):
        log = inspect_ai.log.read_eval_log(info)
        assert log.status == "success", log.error
        by_model[log.eval.model] = log
    share = sum(pair.preferred == "A" for pair in PAIRS) / len(PAIRS)
    assert by_model["openai-api/local/m"].results.scores[0].metrics["accuracy"].value == share
    quiz = by_model[f"judge_r1/direct@{server.url}/v1#m"]
    assert quiz.results.scores[0].metrics["accuracy"].value == 1.0
    scorer = ("--scorer", "judge_r1/pairwise", "-S", "judge=longer")
    inspect("score", quiz.location, *scorer, "--action", "append", "--overwrite")
    scores = inspect_ai.log.read_eval_log(quiz.location).samples[0].scores
    assert scores["pairwise"].value == 1.0
