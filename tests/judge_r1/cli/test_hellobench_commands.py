"""`judge-r1 generate`, `judge-r1 fit-weights` and `judge-r1 eval`: a model from nothing to HelloBench's table."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_server import run
from fake_judge_endpoint import JudgeServer, chat_completion, error_response
from fake_llm_server import FakeLLMServer
from hellobench_factories import WEIGHTS, make_checkout, scripted_answer, write_lines

from judge_r1.benchmarks.hellobench import generation_tasks
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.fit_weights import fit_file, weights_grid
from judge_r1.evaluation.generation import LOG, generate, make_generator, tasks_of
from judge_r1.judges.base import JudgeBuild


def write(system: str, user: str, sample: int) -> str:
    """A model that writes, and judges what it reads with the checklist."""
    return scripted_answer(system, user, sample) if "response" in user else f"A good text about: {user}"


def annotations(*, rows: int = 40, seed: int = 0) -> list[dict[str, object]]:
    """Rows of the annotation page whose overall score is exactly the weighted checklist, where it is whole."""
    rng = np.random.default_rng(seed)
    found = []
    for category, weights in WEIGHTS.items():
        for number in range(rows):
            items = rng.integers(0, 5, len(weights)).tolist()
            overall = float(np.dot(items, weights) / 4 / 10)
            found.append({"category": category, "id": str(number), "evaluation_results": [*items, overall]})
    return found


def test_from_nothing_to_the_table(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "HelloBench", weights=False)
    human, weights = write_lines(tmp_path / "human.jsonl", annotations()), tmp_path / "weights.json"
    fitted = run("fit-weights", human, "--out", weights, "--resamples", "50")
    assert fitted.returncode == 0, fitted.stderr
    assert "rewrite" in fitted.stdout
    with FakeLLMServer(write) as server:
        model = f"{server.url}/v1#m"
        made = run("generate", "--model", model, "--path", root, "--out", tmp_path / "runs" / "writer")
        assert made.returncode == 0, made.stderr
        assert "4 responses in" in made.stderr
        subset = f"responses={tmp_path / 'runs' / 'writer'},weights={weights}"
        judged = run("eval", "--benchmark", "hellobench", "--path", root, "--subset", subset, "--judge",
                     f"j=checklist@{model}", "--out", tmp_path / "eval")  # fmt: skip
    assert judged.returncode == 0, judged.stderr
    (row,) = json.loads((tmp_path / "eval" / "summary.json").read_text())["rows"]
    assert row["tables"]["Systems"]["writer"]["S OEQA"] == 100.0
    summary = json.loads((tmp_path / "eval" / "summary.json").read_text())
    assert summary["pinned"]["weights"].startswith("weights.json ")


def test_fitted_weights_are_those_behind_the_scores(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "human.jsonl", [*annotations(), {"category": "travel", "evaluation_results": None}])
    fits = fit_file([file], tmp_path / "w.json", resamples=20)
    for category, weights in WEIGHTS.items():
        assert fits[category].weights == pytest.approx(weights, abs=1e-6)
    report = json.loads((tmp_path / "w.json").read_text())
    assert (report["rows"], report["skipped"]) == (80, {"not annotated": 1})
    assert report["categories"]["travel"]["rank"] == 2


def test_a_csv_table_and_annotators(tmp_path: Path) -> None:
    file = tmp_path / "human.csv"
    with file.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["category", "id", "model", "annotator", "overall", "item_0", "item_1"])
        for number, (a, b) in enumerate([(0, 1), (1, 0), (1, 1), (0.5, 0.25)]):
            for name in ("ana", "ben"):
                writer.writerow(["travel", number, "m", name, 6 * a + 3 * b + (name == "ana") * 0.5, a, b])
    fits = fit_file([file], tmp_path / "w.json", resamples=0)
    report = json.loads((tmp_path / "w.json").read_text())
    assert (fits["travel"].n, fits["travel"].low) == (4, None)
    assert "[" not in weights_grid(fits).rows[0][5]  # no bootstrap, no interval
    assert report["annotator_pearson"] == {"ana - ben": {"pearson": pytest.approx(1.0), "n": 4}}
    assert any("4 rows for 2 weights" in warning for warning in fits["travel"].warnings)


def test_small_categories_are_pooled_by_task_on_request(tmp_path: Path) -> None:
    weights = {"explanation": [20, 30, 50], "rewrite": [20, 30, 50], "travel": [75, 25]}
    rows = []
    rng = np.random.default_rng(0)
    for category, count in (("explanation", 2), ("rewrite", 40), ("travel", 3)):
        for number in range(count):
            items = rng.integers(0, 5, len(weights[category]))
            name = "open_ended_qa" if category == "travel" else "chat"
            overall = float(items @ weights[category]) / 4 / 10
            rows.append({"category": category, "id": f"{name}_{number:03}", "system": category, "overall": overall,
                         "scores": (items / 4).tolist()})  # fmt: skip
    file = write_lines(tmp_path / "human.jsonl", rows)
    fits = fit_file([file], tmp_path / "w.json", resamples=0, pool_below=40)
    assert fits["explanation"].weights == pytest.approx([20, 30, 50], abs=1e-6)
    assert [fits[name].n for name in weights] == [42, 40, 3]
    entries = json.loads((tmp_path / "w.json").read_text())["categories"]
    assert [entries[name].get("pooled") for name in weights] == ["chat", None, "open_ended_qa"]
    file = write_lines(tmp_path / "human.jsonl", [{**rows[0], "id": "7"}])
    with pytest.raises(JudgeError, match="the id '7' does not tell the task"):
        fit_file([file], tmp_path / "w.json", pool_below=40)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"category": "travel", "evaluation_results": [5, 1, 9]}, "numbers from 0 to 4"),
        ({"category": "travel", "evaluation_results": [1, 1, 11]}, "numbers from 0 to 10"),
        ({"category": "travel", "scores": [1, 0.5, 1], "overall": 3}, "has 3 item scores, and"),
        ({"category": "travel", "scores": [], "overall": 3}, "must hold a score for each question"),
        ({"category": "travel", "overall": 3, "scores": [1, "x"]}, "holds 'x'"),
        ({"category": "", "scores": [1, 1], "overall": 3}, "column 'category' must not be empty"),
        ({"category": "travel", "scores": [1, 1]}, "column 'overall' is missing"),
        ({"category": "travel", "overall": 3, "item_name": "x"}, "column 'item_0' must hold a score for each question"),
        ({"category": "travel", "evaluation_results": [4, 4, 9], "scores": [1, 0]}, "remove the other ones"),
        ({"category": "travel", "scores": [0, 1], "overall": 5, "id": "1", "annotator": "ana"}, "a second time"),
    ],
)
def test_bad_annotations_name_the_line(row: dict[str, object], message: str, tmp_path: Path) -> None:
    good = {"category": "travel", "scores": [1, 1], "overall": 9, "id": "1", "annotator": "ana"}
    with pytest.raises(JudgeError, match=r"human\.jsonl, line 2") as error:
        fit_file([write_lines(tmp_path / "human.jsonl", [good, row])], tmp_path / "w.json")
    assert message in str(error.value)
    assert not (tmp_path / "w.json").exists()


def test_a_stopped_generation_resumes(tmp_path: Path) -> None:
    root, out = make_checkout(tmp_path / "HelloBench"), tmp_path / "out"
    tasks = generation_tasks(root, None)
    with FakeLLMServer(write) as server:
        build = JudgeBuild(f"{server.url}/v1#m", batch_size=2)
        generate(tasks, lambda: make_generator(build), out, resume=False)
        lines = (out / LOG).read_text().splitlines(keepends=True)
        whole = {file.name: file.read_bytes() for file in out.glob("*.jsonl")}
        assert [json.loads(line)["id"] for line in lines] == [task.id for task in tasks]
        (out / LOG).write_text("".join(lines[:2]) + lines[2][:20])  # a kill tears the last line
        with pytest.raises(JudgeError, match="holds responses already: add --resume"):
            generate(tasks, lambda: make_generator(build), out, resume=False)
        before = sum(server.calls.values())
        counts = generate(tasks, lambda: make_generator(build), out, resume=True)
        assert sum(server.calls.values()) - before == 2
        assert counts == {"answer": 4}
        assert {file.name: file.read_bytes() for file in out.glob("*.jsonl")} == whole
        (out / LOG).write_text("".join(reversed(lines[1:])))  # the order of the answers, in another run
        generate(tasks, lambda: make_generator(build), out, resume=True)
        assert {file.name: file.read_bytes() for file in out.glob("*.jsonl")} == whole
        other = JudgeBuild(f"{server.url}/v1#other")
        for resume in (True, False):
            with pytest.raises(JudgeError, match="from before a change of the model: choose another --out"):
                generate(tasks, lambda: make_generator(other), out, resume=resume)


def test_annotators_whose_names_differ_in_white_space_alone_are_refused(tmp_path: Path) -> None:
    row = {"category": "travel", "scores": [1, 1], "overall": 9, "id": "1", "annotator": "ana"}
    with pytest.raises(JudgeError, match="the annotators 'ana' and 'ana ' differ in white space alone"):
        fit_file([write_lines(tmp_path / "human.jsonl", [row, {**row, "annotator": "ana "}])], tmp_path / "w.json")


def test_an_instruction_that_the_server_refuses_each_time_ends_the_generation(tmp_path: Path) -> None:
    root, out = make_checkout(tmp_path / "HelloBench"), tmp_path / "out"
    tasks = generation_tasks(root, None)

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        refused = body["messages"][-1]["content"] == tasks[1].instruction or everything
        return error_response(422, "unlucky") if refused else chat_completion("A text.")

    everything = False
    with JudgeServer(answer) as server:
        build = JudgeBuild(f"{server.url}#m", batch_size=1)
        assert generate(tasks, lambda: make_generator(build), out, resume=False) == {"answer": 3, "refused": 1}
        everything = True
        with pytest.raises(JudgeError, match=r"4 of 4 responses are missing"):
            generate(tasks, lambda: make_generator(build), tmp_path / "none", resume=False)


def test_required_lengths_are_derived_where_the_checkout_lacks_them(tmp_path: Path) -> None:
    row = {"id": "heuristic_text_generation_000", "category": "story_writing", "checklists": ["Is it?"],
           "instruction": "Write a story.\n1. Ensure the story is long enough."}  # fmt: skip
    write_lines(tmp_path / "data" / "main_data" / "heuristic_text_generation.jsonl", [row])
    tasks = generation_tasks(tmp_path, "exp=length_constrained_exp")
    assert [task.instruction.rpartition("story is ")[2] for task in tasks] == [
        f"no shorter than {least} words." for least in (2000, 4000, 8000, 16000)
    ]
    assert next(task.file for task in tasks) == "heuristic_text_generation_2k_results.jsonl"


def test_a_benchmark_of_existing_texts_generates_nothing(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="responses are generated for hellobench"):
        tasks_of("pandalm", tmp_path, None)
