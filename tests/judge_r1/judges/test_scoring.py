"""Judges that score each candidate alone: pairs in any order, cost, failures, and the protocols of benchmarks."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from benchmark_factories import write
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer, chat_completion
from scoring_judge import LengthScore

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.benchmarks.judgebench import load as judgebench
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.benchmarks.pointwise import read_best
from judge_r1.benchmarks.rewardbench2 import load as rewardbench2
from judge_r1.core.case_store import CaseStore
from judge_r1.core.items import ItemResult
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, ScoresVerdict
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput, run_all
from judge_r1.judges.panel import JudgePanel, make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of, result_of
from judge_r1.judges.scoring import ScoringJudge


def pair(first: str, second: str) -> JudgeRequest:
    return request_of("1", CaseStore(), reasoning_a=first, reasoning_b=second)


def results(benchmark: LoadedBenchmark, out: Path) -> list[ItemResult]:
    found: PanelResults = evaluate(
        JudgePanel("length", (ScoringJudge(LengthScore()),)), benchmark, out=out, resume=False
    )
    return list(found.items)


def test_a_pair_is_two_scores_in_the_order_shown() -> None:
    [output] = run_all(ScoringJudge(LengthScore()), [pair("long one", "short")])
    assert output.verdict == ScoresVerdict(scores=(8, 5))
    result = result_of(output)
    assert (result.winner, result.violated_principles) == ("A", (2,))
    [tie] = run_all(ScoringJudge(LengthScore()), [pair("same", "four")])
    assert (result_of(tie).winner, result_of(tie).violated_principles) == ("tie", ())


def test_a_candidate_is_asked_about_once_for_all_pairs_and_orders_of_its_item() -> None:
    benchmark, inner = pair_benchmark(mini_pairs(5)), LengthScore()
    requests = benchmark.requests(orders=2, samples=2)
    outputs = run_all(ScoringJudge(inner), requests)
    assert len(inner.asked) == 2 * 2 * len(benchmark.items)
    assert sum((output.usage or {}).get("calls", 0) for output in outputs) == len(inner.asked)
    by_key = {output.request.key: output.verdict for output in outputs}
    for (item, order, sample), verdict in by_key.items():
        other = by_key[item, order[::-1], sample]
        assert isinstance(verdict, ScoresVerdict)
        assert isinstance(other, ScoresVerdict)
        assert verdict.scores == other.scores[::-1]


@pytest.mark.parametrize(("text", "ended"), [("invalid", "rejected_bad_score"), ("lost", "infrastructure_timeout")])
def test_a_candidate_without_a_score_makes_the_pair_invalid(text: str, ended: str) -> None:
    for one in (pair(text, "fine"), pair("fine", text), pair("invalid", text)):
        [output] = run_all(ScoringJudge(LengthScore()), [one])
        assert result_of(output).winner is None
        assert output.trajectory.ended == ended


def test_a_prompt_of_a_benchmark_is_refused() -> None:
    from judge_r1.episode.prompts import user_prompt
    from judge_r1.judges.request import CustomPrompt, any_text

    item = pair("a", "b").item
    with pytest.raises(BadJudge, match="has a prompt of its own"):
        ScoringJudge(LengthScore()).check([JudgeRequest(item, (0,), 0, CustomPrompt(user_prompt("p"), any_text))])


def test_label_f1_is_that_of_the_lower_score(tmp_path: Path) -> None:
    benchmark = pair_benchmark(mini_pairs(6))
    for result in results(benchmark, tmp_path):
        gold = benchmark.labels[result.item_id]
        assert result.labels is not None
        longer = "A" if len(gold.reasoning_a) > len(gold.reasoning_b) else "B"
        tie = len(gold.reasoning_a) == len(gold.reasoning_b)
        assert result.score == float(not tie and longer == gold.preferred)
        assert result.labels.predicted == (() if tie else (2,))
        assert result.labels.valid_strict


def row(name: str, subset: str, chosen: list[str], rejected: list[str]) -> dict[str, object]:
    counts = {"num_correct": len(chosen), "num_incorrect": len(rejected)}
    return {"id": name, "prompt": f"p {name}", "chosen": chosen, "rejected": rejected, "subset": subset, **counts}


@pytest.mark.parametrize("subset", [None, "list"])
def test_rewardbench_2_takes_the_strictly_highest_score(tmp_path: Path, subset: str | None) -> None:
    rows = [
        row("best", "Math", ["aaaa"], ["a", "aa", "aaa"]),
        row("tied with one", "Math", ["aaaa"], ["a", "aa", "bbbb"]),
        row("worse than one", "Math", ["aaaa"], ["a", "aa", "bbbbb"]),
        row("ref:0", "Ties", ["aaaa"], ["a"]),
        row("tied:0", "Ties", ["aaaa", "aaa"], ["a", "aa"]),
    ]
    write(tmp_path / "test.parquet", rows)
    found = {
        one.item_id.partition("/")[2]: one.score for one in results(rewardbench2(tmp_path, subset), tmp_path / "out")
    }
    assert found == {"best": 1, "tied with one": 0, "worse than one": 0, "ref:0": 1, "tied:0": 1}


def test_judgebench_gives_the_same_answer_in_both_orders(tmp_path: Path) -> None:
    def row(name: str, first: str, second: str, label: str) -> dict[str, object]:
        texts = {"question": name, "response_A": first, "response_B": second}
        return {"pair_id": name, "source": "mmlu-pro", "label": label, "response_model": "m", **texts}

    rows = [row("x", "aaa", "a", "A>B"), row("y", "aaa", "a", "B>A"), row("z", "aa", "bb", "A>B")]
    write(tmp_path / "data.jsonl", rows)
    found = {one.item_id: one for one in results(judgebench(tmp_path / "data.jsonl", None), tmp_path / "out")}
    assert {name: (one.verdict, one.score) for name, one in found.items()} == {
        "x": (PairwiseVerdict(winner="A"), 1),
        "y": (PairwiseVerdict(winner="A"), 0),
        "z": (PairwiseVerdict(winner="tie"), 0),
    }


def test_pointwise_asks_a_chat_model_about_each_reasoning() -> None:
    data = mini_pairs(3)
    flawed = {pair.flawed for pair in data.pairs}

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        shown = "".join(message["content"] for message in body["messages"])
        bad = any(text in shown for text in flawed)
        return chat_completion(f'<answer>{{"score": {3 if bad else 9}, "violated_principles": []}}</answer>')

    with JudgeServer(answer) as server:
        judge = make_judge(f"pointwise:search=false@{server.url}#toy", JudgeBuild("", texts=data.texts, batch_size=2))
        outputs = run_all(judge, pair_benchmark(data).requests())
        assert len(server.bodies) == 2 * len(data.pairs)
    for output in outputs:
        gold = data.by_id()[output.request.item.item_id]
        assert result_of(output).winner == gold.preferred


def listed(tmp_path: Path, subset: str, spec: str, answer: Callable[[str], str]) -> tuple[list[ItemResult], list[str]]:
    """The results of a chat model on RewardBench 2, and what it was shown."""
    chosen = ["the right one"]
    write(tmp_path / "test.parquet", [row(f"{n}", "Math", chosen, ["x", "y", "z"]) for n in range(6)])
    benchmark = rewardbench2(tmp_path, subset)

    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return chat_completion(answer(body["messages"][-1]["content"]))

    with JudgeServer(reply) as server:
        judge = make_judge(f"{spec}@{server.url}#toy", JudgeBuild(""))
        items = evaluate(JudgePanel("list", (judge,)), benchmark, out=tmp_path / "out", resume=False).items
        shown = ["".join(message["content"] for message in body["messages"]) for body in server.bodies]
    return list(items), shown


def place(text: str) -> int:
    """The number of the right answer in a prompt."""
    return next(number for number in range(1, 5) if f"{number}:\nthe right one" in text)


@pytest.mark.parametrize(
    ("spec", "form"), [("listwise", '<answer>{{"best": {}}}</answer>'), ("direct", "It is right.\nBest: {}")]
)
@pytest.mark.parametrize("right", [True, False])
def test_one_prompt_shows_all_four_answers(tmp_path: Path, spec: str, form: str, right: bool) -> None:
    def answer(text: str) -> str:
        return form.format(place(text) if right else place(text) % 4 + 1)

    items, shown = listed(tmp_path, "Math,list", spec, answer)
    assert [one.score for one in items] == [float(right)] * 6
    assert len(shown) == 6
    assert len(set(map(place, shown))) > 1  # the right answer has no fixed place
    for text in shown:
        assert "the case" not in text  # there is none


def test_an_answer_that_names_none_of_the_four_is_invalid(tmp_path: Path) -> None:
    items, _ = listed(tmp_path, "list", "listwise", lambda text: '<answer>{"best": 5}</answer>')
    assert {one.verdict.reason for one in items} == {"rejected_bad_best"}  # type: ignore[union-attr]
    assert [read_best(text, 4) for text in ("**Best: 4**", "so\nbest 1.")] == [
        ScoresVerdict(scores=(0, 0, 0, 1)), ScoresVerdict(scores=(1, 0, 0, 0)),
    ]  # fmt: skip
    for text in ("Best: 5", "Best: 0", "Best: 1 or 2", "Best: 1\nor so", ""):
        assert read_best(text, 4) == InvalidVerdict(reason="no_best")


def test_a_template_about_one_text_is_not_shown_several(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Is this good?\n$output")
    with pytest.raises(BadJudge, match="asks about one text or two, and item Math/0 shows several"):
        listed(tmp_path, "list", f"prompt:file={tmp_path / 'own.txt'},answers=yes/no", str)


def test_a_list_of_two_is_a_preference() -> None:
    with JudgeServer(lambda path, body: chat_completion('<answer>{"best": 2}</answer>')) as server:
        judge = make_judge(f"listwise@{server.url}#toy", JudgeBuild(""))
        [output] = run_all(judge, [pair("a", "b")])
    assert (output.verdict, result_of(output).winner) == (ScoresVerdict(scores=(0, 1)), "B")


class StoredScores(LengthScore):
    """The scores of a published reward model by pair and candidate."""

    def __init__(self, scores: Mapping[str, Sequence[float]]) -> None:
        super().__init__()
        self.scores = scores

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            verdict = ScoresVerdict(scores=(self.scores[request.item.item_id][request.order[0]],))
            yield JudgeOutput(request, Trajectory.without_ids("answer"), verdict, usage={"calls": 1})


def test_the_published_row_of_skywork_follows_from_its_scores(real_data: Path, tmp_path: Path) -> None:
    """JudgeBench's public outputs of Skywork-Reward-Gemma-2-27B: 64.29 in all 350 pairs, three of which it ties, and
    the four categories, in both orders as in one."""
    [file] = (real_data / "judgebench/outputs").glob("*Skywork-Reward-Gemma-2-27B.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    scores = {row["pair_id"]: row["judgments"][0]["judgment"]["scores"] for row in rows}
    judge, benchmark = ScoringJudge(StoredScores(scores)), judgebench(file, None)
    found = evaluate(JudgePanel("skywork", (judge,)), benchmark, out=tmp_path, resume=False).items
    assert len(found) == 350
    assert sum(one.verdict == PairwiseVerdict(winner="tie") for one in found) == 3
    assert 100 * fmean(one.score for one in found) == pytest.approx(64.29, abs=0.005)
    means = {
        group: round(100 * fmean(one.score for one in found if one.group == group), 2)
        for group in ("Knowledge", "Reasoning", "Math", "Coding")
    }
    assert means == {"Knowledge": 59.74, "Reasoning": 66.33, "Math": 83.93, "Coding": 50.0}
