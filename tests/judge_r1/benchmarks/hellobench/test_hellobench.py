"""HelloBench on a small checkout: items, scores, tables, gold, published judgements, pins, and the errors."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from command_server import run
from fake_llm_server import FakeLLMServer
from hellobench_factories import (
    instruction_row,
    judgement,
    make_checkout,
    make_wordnet,
    scripted_answer,
    write_lines,
    write_responses,
)

from judge_r1.benchmarks.hellobench import load, predictions
from judge_r1.benchmarks.hellobench.text_measures import joined, perplexity_metric
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.pipeline import Evaluation, evaluate_predictions
from judge_r1.evaluation.report.comparison import write_comparison
from judge_r1.evaluation.rescore import rescore_evaluation
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel
from judge_r1.models.hub import load_model, load_tokenizer


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Two systems; the judge finds every text of `fine` good."""
    root = make_checkout(tmp_path / "HelloBench")
    write_responses(tmp_path / "responses" / "fine", "A good text")
    write_responses(tmp_path / "responses" / "poor", "A dull text")
    return root


def evaluate(root: Path, out: Path, subset: str, *specs: str) -> dict[str, Any]:
    """The rows of the summary by judge."""
    loaded = load(root, subset)
    with (
        FakeLLMServer(scripted_answer) as server,
        Evaluation(loaded, out, resume=False, name="hellobench") as evaluation,
    ):
        for spec in specs:
            evaluation.run(lambda spec=spec: make_panel(f"{spec}@{server.url}/v1#model", JudgeBuild("")))
        evaluation.subset = subset
        return {row["name"]: row for row in evaluation.finish([])["rows"]}


def test_the_table_of_two_systems(checkout: Path, tmp_path: Path) -> None:
    subset = f"responses={tmp_path / 'responses'}"
    table = evaluate(checkout, tmp_path / "eval", subset, "j=checklist")["j"]["tables"]["Systems"]
    assert table["fine"]["S OEQA"] == table["fine"]["S Chat"] == 100.0
    assert table["poor"]["S OEQA"] == (0.75 * 50 - 75) * 4  # 75 and 25 points at scores 0.5 and 0
    assert table["poor"]["S Chat"] == ((20 + 50) * 0.5 - 75) * 4  # 20, 30 and 50 points at 0.5, 0 and 0.5
    assert table["poor"]["S AVG"] is None  # two tasks of five
    assert (table["poor"]["WC Chat"], table["poor"]["n"], table["poor"]["invalid"]) == (5, 4, 0)
    summary = read_summary(tmp_path / "eval")
    assert summary["pinned"]["weights"].startswith("weighted_scores.txt ")
    assert summary["pinned"]["judges"]["j"]["judge"].endswith("/v1#model")
    assert "Systems (j)" in (tmp_path / "eval" / "report.html").read_text()


def test_reasons_are_kept_and_replay_gives_the_same(checkout: Path, tmp_path: Path) -> None:
    subset = f"responses={tmp_path / 'responses' / 'poor'},chat"
    row = evaluate(checkout, tmp_path / "eval", subset, "j=checklist")["j"]
    lines = (tmp_path / "eval" / "outcomes.jsonl").read_text().splitlines()
    (vote,) = json.loads(lines[0])["votes"]
    assert vote["verdict"]["reasons"] == {"0": "reason 0", "1": "reason 1", "2": "reason 2"}
    again = rescore_evaluation(tmp_path / "eval", checkout, tmp_path / "again", subset=f"{subset},weights=average")
    assert row["n"] == 2
    assert again["rows"][0]["accuracy"] == pytest.approx(1 / 3)  # other weights, no new call
    assert again["pinned"]["weights"] == "average"
    for option, message in (
        ({"parser": "tolerant"}, "--parser has no effect on hellobench, which reads the answers itself"),
        ({"reward": "labels"}, "--reward is for labelled pairs, and hellobench has no labels"),
    ):
        with pytest.raises(JudgeError, match=message):
            rescore_evaluation(tmp_path / "eval", checkout, tmp_path / "no", **option)  # type: ignore[arg-type]


def test_baselines_and_a_judge_of_the_whole(checkout: Path, tmp_path: Path) -> None:
    subset = f"responses={tmp_path / 'responses'}"
    rows = evaluate(
        checkout, tmp_path / "eval", subset, "a=llm-eval", "b=direct", "c=checklist:form=search,retriever=bm25"
    )
    assert rows["a"]["tables"]["Systems"]["poor"]["S OEQA"] == (30 - 75) * 4
    assert rows["b"]["tables"]["Systems"]["fine"]["S OEQA"] == 100.0  # any judge of plain prompts answers the checklist
    assert rows["c"]["tables"]["Systems"]["poor"]["S Chat"] == (50 - 75) * 4
    assert rows["c"]["usage"]["calls"] == 2 * (2 * 2 + 2 * 3) * 2


def test_humans_and_another_judge_as_gold(checkout: Path, tmp_path: Path) -> None:
    rows = [
        {"category": "travel", "id": f"open_ended_qa_{n:03}", "system": system, "overall": overall, "scores": scores}
        for n in range(2)
        for system, overall, scores in (("fine", 9 - n, [1, 1]), ("poor", 2 + n, [0.5, 0.5]))
    ]
    human = write_lines(tmp_path / "human.jsonl", rows)
    subset = f"responses={tmp_path / 'responses'},open_ended_qa,human={human}"
    row = evaluate(checkout, tmp_path / "eval", subset, "j=checklist")["j"]
    assert row["extra"] == {
        "exact": 0.75, "MAE": 0.125, "kappa": pytest.approx(0.75), "constant exact": 0.5, "constant MAE": 0.25,
    }  # fmt: skip
    with_gold = row["tables"]["Spearman correlation with gold scores"]["judge"]
    assert (with_gold["rho"], with_gold["n"]) == (pytest.approx(1.0), 4)
    assert (with_gold["systems"], with_gold["tau of systems"]) == (2, pytest.approx(1.0))
    table = row["tables"]["Spearman correlation with human scores"]
    assert table["judge"]["rho"] == pytest.approx(0.894, abs=1e-3)
    assert {"judge", "AVG-C", "words", "Rep-4", "Dist-4"} == set(table)
    assert {cells["n"] for cells in table.values()} == {4}
    gold = f"responses={tmp_path / 'responses'},open_ended_qa,gold={tmp_path / 'eval'}"
    assert evaluate(checkout, tmp_path / "same", gold, "j=checklist")["j"]["extra"]["exact"] == 1.0


def test_systems_with_other_instructions_are_compared_on_the_shared_ones(checkout: Path, tmp_path: Path) -> None:
    file = tmp_path / "responses" / "fine" / "chat_results.jsonl"
    write_lines(file, [json.loads(file.read_text().splitlines()[1])])
    subset = f"responses={tmp_path / 'responses'},chat,against=poor"
    tables = evaluate(checkout, tmp_path / "eval", subset, "j=checklist")["j"]["tables"]
    assert [tables["Systems"][name]["n"] for name in ("fine", "poor")] == [1, 2]
    shared = tables["Systems on the instructions that all answered"]
    assert [shared[name]["n"] for name in ("fine", "poor")] == [1, 1]
    assert (tables["Systems"]["fine"]["win rate"], tables["Systems"]["poor"]["win rate"]) == (100.0, None)
    with pytest.raises(JudgeError, match="against=none is none of the systems"):
        load(checkout, f"responses={tmp_path / 'responses'},against=none")


def test_a_tie_is_half_a_win_and_equal_scores_have_no_correlation(checkout: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_responses(tmp_path / "same" / name, "A good text", scores={"travel": [1, 1], "rewrite": [1, 1, 1]})
    subset = f"responses={tmp_path / 'same'},against=one"
    cells = load(checkout, subset).tables(predictions(checkout, tmp_path / "same", subset))["Systems"]["two"]
    assert (cells["win rate"], cells["ρ words"]) == (50.0, None)


def test_the_text_is_shown_as_the_release_does_on_request_only(checkout: Path, tmp_path: Path) -> None:
    folder = write_responses(tmp_path / "r" / "fine", "A good\n\ntext")
    plain, legacy = (load(checkout, f"responses={folder},chat{more}") for more in ("", ",legacy_join=true"))
    first = [benchmark.task(benchmark.items[0], (0,)) for benchmark in (plain, legacy)]
    assert [task.response for task in first] == ["A good\n\ntext 0.", "A good text 0 ."]  # type: ignore[union-attr]
    assert legacy.items == plain.items  # measures and results keep the text
    assert legacy.pins == {**plain.pins, "texts": "joined by spaces"}
    assert (len(joined("a " * 15_000).split()), len(joined("a " * 15_001).split())) == (15_000, 15_001)
    assert len(joined("a " * 20_000).split()) == 16_000


def test_published_judgements_follow_the_release(checkout: Path, tmp_path: Path) -> None:
    folder = write_responses(tmp_path / "r" / "fine", "A good text", scores={"travel": [1, 0.5], "rewrite": [1, 1, 1]})
    lines = [json.loads(line) for line in (folder / "chat_results.jsonl").read_text().splitlines()]
    lines[0]["checklist_wise_evaluation"] = judgement([1, 1])  # the release skips another number of scores
    write_lines(folder / "chat_results.jsonl", lines)
    subset = f"responses={tmp_path / 'r'}"
    table = load(checkout, subset).tables(predictions(checkout, folder, subset))["Systems"]["fine"]
    assert (table["S OEQA"], table["S Chat"], table["n"], table["invalid"]) == (50.0, 100.0, 3, 1)
    lines[1]["checklist_wise_evaluation"][0]["checklist_id"] = [0]  # and an unknown id
    write_lines(folder / "chat_results.jsonl", lines)
    assert [r.verdict.kind for r in predictions(checkout, folder, subset)].count("invalid") == 2
    evaluate_predictions("hellobench", checkout, [folder], subset, tmp_path / "out")
    pins = read_summary(tmp_path / "out")["pinned"]
    row = pins["judges"]["fine"]
    assert row["judge"] == row["prompt"] == pins["prompt"] == "published", "not the prompt of this package"


def test_people_who_score_a_text_in_two_categories_are_refused(checkout: Path, tmp_path: Path) -> None:
    row = {"category": "travel", "id": "open_ended_qa_000", "system": "fine", "overall": 5, "scores": [0, 0.5]}
    human = write_lines(tmp_path / "human.jsonl", [row, {**row, "category": "music"}])
    with pytest.raises(JudgeError, match=r"line 2: scores 'open_ended_qa_000' as category 'music'"):
        load(checkout, f"responses={tmp_path / 'responses'},human={human}")


def test_the_report_refuses_to_mix_weights_prompts_or_judges(checkout: Path, tmp_path: Path) -> None:
    """HelloBench's issue 2: rankings with other judges and weights look alike."""
    one, other = f"responses={tmp_path / 'responses' / 'fine'}", f"responses={tmp_path / 'responses' / 'poor'}"
    evaluate(checkout, tmp_path / "a", one, "j=checklist")
    evaluate(checkout, tmp_path / "b", f"{other},weights=average", "j=checklist")
    with pytest.raises(JudgeError, match=r"different weights \(weighted_scores.txt .*; average\)"):
        write_comparison([tmp_path / "a", tmp_path / "b"], tmp_path / "page.html")
    evaluate(checkout, tmp_path / "c", one, "j=checklist:form=search,retriever=bm25")
    with pytest.raises(JudgeError, match="different judges"):
        write_comparison([tmp_path / "a", tmp_path / "c"], tmp_path / "page.html")
    evaluate(checkout, tmp_path / "d", f"{other},chat", "j=checklist")
    with pytest.raises(JudgeError, match="different checklists"):
        write_comparison([tmp_path / "a", tmp_path / "d"], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
    write_comparison([tmp_path / "a"], tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()


def test_summaries_without_their_data_file_are_recovered(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "HelloBench", weights=False)
    names = ("academic_article", "report", "long_dialogue", "news", "blogs")
    (root / "checklists").mkdir()
    (root / "checklists" / "summarization_checklist.json").write_text(json.dumps({n: [f"Is {n}?"] for n in names}))
    firsts = ("an academic article", "a report", "the dialog", "the news", "a post")
    rows = [
        {"id": f"summarization_{n:03}", "instruction": f"Summarize {first}.\nText.", "response": "Short."}
        for n, first in enumerate(firsts)
    ]
    write_lines(tmp_path / "r" / "s" / "summarization_results.jsonl", rows)
    loaded = load(root, f"responses={tmp_path / 'r' / 's'}")
    tasks = [loaded.task(item, (0,)) for item in loaded.items]
    assert [task.checklist.questions[0] for task in tasks] == [f"Is {n}?" for n in names]  # type: ignore[union-attr]
    assert loaded.pins["weights"] == "average"


def test_length_errors_and_refusals(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "HelloBench", weights=False)
    stem = "heuristic_text_generation_2k"
    row = {**instruction_row("travel", 0), "id": "heuristic_text_generation_000"}
    write_lines(root / "data" / "length_constrained_data" / f"{stem}.jsonl", [row])
    answer = {"id": row["id"], "instruction": row["instruction"], "response": "I cannot write this. No. No. No."}
    write_lines(tmp_path / "s" / f"{stem}_results.jsonl", [answer])
    (tmp_path / "refusals.txt").write_text("i cannot\n")
    subset = f"responses={tmp_path / 's'},refusals={tmp_path / 'refusals.txt'}"
    table = evaluate(root, tmp_path / "eval", subset, "j=checklist")["j"]["tables"]["Systems"]["s"]
    assert (table["length MAE HTG-2k"], table["refusals"], table["repetitive"]) == (1988.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ("song", "hellobench has no task or category 'song'"),
        ("speed=2", "unknown key speed"),
        ("weights=", "hellobench takes key=value, not 'weights='"),
        ("weights=a,weights=b", "hellobench has 'weights' twice: give it once"),
        ("exp=other", "field exp: Input should be 'main_exp'"),
        ("exp=main_exp,responses=x", "exp chooses among the released results"),
        ("legacy_join=maybe", "field legacy_join: Input should be a valid boolean"),
        ("system=none", "there are no responses of system 'none'"),
        ("weights=nowhere.json", "nowhere.json cannot be read"),
    ],
)
def test_bad_options_are_one_sentence(subset: str, message: str, checkout: Path, tmp_path: Path) -> None:
    whole = subset if "responses=" in subset else f"responses={tmp_path / 'responses'},{subset}"
    if subset.startswith("exp=other"):
        whole = subset
    with pytest.raises(JudgeError, match=message):
        load(checkout, whole)


def test_bad_files_name_the_line(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="holds no results of main_exp: give --path a checkout"):
        load(checkout, None)
    with pytest.raises(JudgeError, match=r"holds no data/main_data/\*.jsonl"):
        load(tmp_path, f"responses={tmp_path / 'responses'}")
    with pytest.raises(JudgeError, match="missing does not exist: give --path a checkout"):
        load(tmp_path / "missing", f"responses={tmp_path / 'responses'}")
    file = tmp_path / "responses" / "fine" / "chat_results.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for change, message in (
        ([rows[0], rows[0]], "line 2: column 'id' repeats 'chat_000'"),
        ([{**rows[0], "id": "chat_999"}], "line 1: column 'id' is 'chat_999', which data/ of"),
        ([{**rows[0], "instruction": "Other."}], "line 1: column 'instruction' differs from that of 'chat_000'"),
    ):
        write_lines(file, change)
        with pytest.raises(JudgeError, match=message):
            load(checkout, f"responses={tmp_path / 'responses'}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "must hold an object with a list of weights"),
        ('{"travel": [1, 0]}', "field travel.1: Input should be greater than 0"),
        ('{"travel": [1, 2]}', "have no category 'rewrite'"),
        ('{"travel": [1], "rewrite": [1, 1, 1]}', "have 1 value for category 'travel', whose checklist has 2"),
    ],
)
def test_weights_that_do_not_fit_name_the_category(content: str, message: str, checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(content)
    with pytest.raises(JudgeError, match=message):
        load(checkout, f"responses={tmp_path / 'responses'},weights={tmp_path / 'w.json'}")


def test_metrics_that_need_references_or_a_model(checkout: Path, tmp_path: Path) -> None:
    rows = [{"id": f"chat_{n:03}", "reference": f"A good text {n}."} for n in range(2)]
    references = write_lines(tmp_path / "references.jsonl", rows)
    subset = f"responses={tmp_path / 'responses'},chat,references={references},perplexity=bundled:tiny"
    table = evaluate(checkout, tmp_path / "eval", subset, "j=checklist")["j"]["tables"]["Systems"]
    assert [table["fine"][name] for name in ("BLEU", "ROUGE-L")] == pytest.approx([100, 100])
    assert table["poor"]["ROUGE-L"] == pytest.approx(75)  # three of four words
    assert table["poor"]["BLEU"] < 50
    assert table["poor"]["perplexity"] > 1
    assert perplexity_metric("bundled:tiny", {"1": "a"})("1") is None  # one token has no likelihood
    with pytest.raises(JudgeError, match=r"references\.jsonl has no reference for open_ended_qa_000"):
        load(checkout, f"responses={tmp_path / 'responses'},references={references}")


@pytest.mark.parametrize("installed", [True, False])
def test_meteor_uses_wordnet_where_it_is_installed(installed: bool, checkout: Path, tmp_path: Path) -> None:
    """In a process of its own: NLTK keeps the corpus that it has loaded."""
    make_wordnet(tmp_path / "nltk", "car", "auto") if installed else (tmp_path / "nltk").mkdir()
    folder = write_responses(tmp_path / "r" / "fine", "A good car", scores={"travel": [1, 0.5], "rewrite": [1, 1, 1]})
    rows = [{"id": f"chat_{n:03}", "reference": f"A good auto {n}."} for n in range(2)]
    subset = f"responses={folder},chat,references={write_lines(tmp_path / 'references.jsonl', rows)}"
    result = run("eval", "--benchmark", "hellobench", "--path", checkout, "--predictions", folder, "--subset", subset,
                 "--out", tmp_path / "out", env={"NLTK_DATA": str(tmp_path / "nltk")})  # fmt: skip
    assert result.returncode == 0, result.stderr
    cells = read_summary(tmp_path / "out")["rows"][0]["tables"]["Systems"]["fine"]
    if installed:
        assert cells["METEOR"] == pytest.approx(100 * (1 - 0.5 * (1 / 5) ** 3))  # five matches in one chunk
    else:
        assert cells["METEOR"] is None


def test_perplexity_of_a_segment_is_that_of_the_model() -> None:
    text = "The judge reads the whole text."
    model, tokenizer = load_model("bundled:tiny"), load_tokenizer("bundled:tiny")
    ids = torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]])
    with torch.no_grad():
        logs = torch.log_softmax(model(ids).logits[0, :-1].double(), -1)
    expected = torch.exp(-logs.gather(1, ids[0, 1:, None]).mean())
    assert perplexity_metric("bundled:tiny", {"1": text})("1") == pytest.approx(float(expected), rel=1e-4)
