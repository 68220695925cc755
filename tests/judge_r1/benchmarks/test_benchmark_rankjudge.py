"""The benchmark of conversation pairs: prompts, parsers, joint correctness, baselines and published pairs."""

import json
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_teacher import save_toy_teacher

from data_builders.build import build
from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.benchmarks.rankjudge.checks import CHANCE
from judge_r1.benchmarks.rankjudge.prompt import REVISIONS, read_pairwise, read_pointwise
from judge_r1.benchmarks.rankjudge.scoring import (
    aggregate_joint,
    aggregate_pointwise,
    class_bias,
    confusion,
    gold_of,
    named_types,
    parts_correct,
)
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult, item_result
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, LocatedVerdict, PairwiseVerdict, Verdict, reorder
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import BadJudge, JudgeBuild, run_all
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.models.base import Sampling


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rankjudge") / "data"
    build("mini-conversations", out, variants=2, limit=30)
    return out


def test_gold_scores_one_in_both_orders(folder: Path) -> None:
    loaded = BENCHMARKS.get("rankjudge").load(folder, "both=true")
    for item in loaded.items:
        orders = loaded.presentation_orders(item)
        assert orders == [(0, 1), (1, 0)]
        votes = [vote_of(order, reorder(gold_of(item), order)) for order in orders]
        found = loaded.aggregate(item, votes)
        assert found.score == 1
        assert found.verdict == gold_of(item)


def test_joint_correctness_is_a_strict_and(folder: Path) -> None:
    item = BENCHMARKS.get("rankjudge").load(folder, None).items[0]
    gold = gold_of(item)
    other = "B" if gold.winner == "A" else "A"
    for side, round_, failure in product((True, False, None), repeat=3):
        if side is None:
            verdict: Verdict = InvalidVerdict(reason="no_json")
        else:
            wrong_round = None if round_ is None else (gold.round or 0) + 1
            wrong_type = None if failure is None else "evasion" if gold.failure != "evasion" else "disorganized"
            verdict = LocatedVerdict(
                winner=gold.winner if side else other,
                round=gold.round if round_ else wrong_round,
                failure=gold.failure if failure else wrong_type,
            )
        right = side is True and round_ is True and failure is True
        assert aggregate_joint(item, [vote_of((0, 1), verdict)]).score == float(right)
    assert parts_correct(PairwiseVerdict(winner=gold.winner), gold) == (True, False, False)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"analysis": "x", "worst_round": 3, "problem_type": "B", "verdict": "A"}', ("A", 3, "evasion")),
        ('```json\n{"worst_round": 1, "problem_type": "evasion", "verdict": "B"}\n```', ("B", 1, "evasion")),
        ('{"worst_round": "round 2", "problem_type": "Z", "verdict": "A"}', ("A", None, None)),
        ('{"worst_round": true, "problem_type": 4, "verdict": "A"}', ("A", None, None)),
    ],
)
def test_answers(text: str, verdict: tuple[str, int | None, str | None]) -> None:
    found = read_pairwise(text)
    assert isinstance(found, LocatedVerdict)
    assert (found.winner, found.round, found.failure) == verdict


@given(st.text())
def test_any_text_has_a_verdict(text: str) -> None:
    assert isinstance(read_pairwise(text), InvalidVerdict | LocatedVerdict)
    assert isinstance(read_pointwise(text), InvalidVerdict | ChecklistVerdict)


def test_pointwise(folder: Path) -> None:
    loaded = BENCHMARKS.get("rankjudge").load(folder, "pointwise=true")
    item = loaded.items[0]
    better = "AB".index(item.gold["better"])
    assert loaded.presentation_orders(item) == [(0,), (1,)]
    score = '{{"score": {}, "is_flawed": false, "worst_round": null, "problem_type": null}}'
    for good, bad, expected in ((8, 3, 1.0), (3, 8, 0.0), (5, 5, 0.5)):
        votes = [vote_of((index,), read_pointwise(score.format(good if index == better else bad))) for index in (0, 1)]
        assert aggregate_pointwise(item, votes).score == expected
        result = item_result("j", item, votes, loaded.aggregate(item, votes))
        assert loaded.metrics([result]) == {"score gap": good - bad}
    votes = [vote_of((0,), read_pointwise("nothing")), vote_of((1,), read_pointwise(score.format(4)))]
    assert aggregate_pointwise(item, votes).score == 0
    assert loaded.metrics([item_result("j", item, votes, loaded.aggregate(item, votes))]) == {"score gap": None}


def test_context_is_inline_missing_or_searched(folder: Path) -> None:
    for subset in ("context=inline", "context=none", "context=none,numbered=false"):
        loaded = BENCHMARKS.get("rankjudge").load(folder, subset)
        task = loaded.task(loaded.items[0], (0, 1))
        assert isinstance(task, CustomPrompt)
        chat = task.prompt.chat()[1]["content"]
        assert ("# DOCUMENT" in chat) == (subset == "context=inline")
        assert ("Round 1, USER" in chat) == (subset != "context=none,numbered=false")
    loaded = BENCHMARKS.get("rankjudge").load(folder, "context=search")
    task = loaded.task(loaded.items[0], (1, 0))
    assert isinstance(task, PairwiseTask)
    assert task.case_id is not None
    assert loaded.texts[task.case_id] == task.context


def test_revised_prompts_differ_and_have_the_same_answer(folder: Path) -> None:
    chats = {}
    for subset in ("inline", *REVISIONS):
        loaded = BENCHMARKS.get("rankjudge").load(folder, f"revision={subset}" if subset in REVISIONS else None)
        task = loaded.task(loaded.items[0], (0, 1))
        assert isinstance(task, CustomPrompt)
        chats[subset] = task.prompt.chat()[1]["content"]
        assert task.read('{"worst_round": 2, "problem_type": "C", "verdict": "B"}') == LocatedVerdict(
            winner="B", round=2, failure="disorganized"
        )
    assert len(set(chats.values())) == 5
    shared = chats["inline"].partition("Answer with one JSON object")[0]
    assert all(chat.startswith(shared) and "worst_round and problem_type are about" in chat for chat in chats.values())
    example = re.search(r"nothing else: ({.*}). verdict", chats["stages"])
    assert example
    assert read_pairwise(example[1]) == LocatedVerdict(winner="B", round=3, failure="self_contradiction")


@pytest.mark.parametrize(
    "subset",
    [
        "inlne", "context=inlne", "both=perhaps", "joint=true", "pointwise=true,both=true",
        "context=search,pointwise=true", "revision=hint", "context=search,revision=rules",
        "pointwise=true,revision=hints",
    ],
)  # fmt: skip
def test_unknown_settings(subset: str, folder: Path) -> None:
    with pytest.raises(JudgeError, match="rankjudge"):
        BENCHMARKS.get("rankjudge").load(folder, subset)


def test_baselines_and_their_biases(folder: Path) -> None:
    loaded = BENCHMARKS.get("rankjudge").load(folder, None)
    found = loaded.baselines(loaded.items)
    scores = {name: sum(result.score for result in results) / len(results) for name, results in found.items()}
    assert len(found) >= 8
    assert scores["check: all"] > 0.35 > 0.1 > scores[CHANCE]
    bias = class_bias(named_types(found["check: directive"]))
    assert sum(bias.values()) == pytest.approx(0, abs=1e-9)
    tables = loaded.tables(found["check: all"])
    assert tables["Named type by type of the flaw"] == confusion(named_types(found["check: all"]))
    accuracy = tables["By type of the flaw"].values()
    total = sum(row["pairs"] for row in accuracy)
    assert total == len(loaded.items)
    assert sum(row["pairs"] * row["score"] for row in accuracy) == pytest.approx(scores["check: all"] * total)


def test_no_rule_of_the_form_finds_the_better_side(folder: Path) -> None:
    loaded = BENCHMARKS.get("rankjudge").load(folder, None)
    for name, results in loaded.baselines(loaded.items).items():
        if name.startswith("form: "):
            assert loaded.metrics(results)["side"] < 0.5 + 2.6 * 0.5 / len(results) ** 0.5


def published(pair: dict[str, object]) -> dict[str, object]:
    return {
        "id": pair["pair_id"], "domain": "ml", "convo_a": pair["conversation_a"], "convo_b": pair["conversation_b"],
        "better_is_a": pair["preferred"] == "A", "plan": {"good": "g", "bad": "b"},
        "metadata": {
            "user_behavior_type": pair["user_behaviour"], "assistant_behavior_type": pair["failure"],
            "n_rounds": pair["rounds"], "bad_round_index": pair["flawed_round"], "context": "The text.",
        },
    }  # fmt: skip


def test_published_pairs(folder: Path, tmp_path: Path) -> None:
    rows = [published(json.loads(line)) for line in (folder / "conversations.jsonl").read_text().splitlines()]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(rows))
    loaded = BENCHMARKS.get("rankjudge").load(path, None)
    own = BENCHMARKS.get("rankjudge").load(folder, None)
    assert [gold_of(item) for item in loaded.items] == [gold_of(item) for item in own.items]
    rows[0]["metadata"]["bad_round_index"] = 99  # type: ignore[index]
    path.write_text(json.dumps(rows))
    with pytest.raises(JudgeError, match=r"row 1: flawed_round 99 is beyond the"):
        BENCHMARKS.get("rankjudge").load(path, None)


def test_results_survive_the_disk(folder: Path) -> None:
    loaded = BENCHMARKS.get("rankjudge").load(folder, None)
    for result in loaded.baselines(loaded.items)["check: all"][:5]:
        assert ItemResult.model_validate_json(result.model_dump_json(by_alias=True)) == result


def test_constrained_answers_are_complete(folder: Path, tmp_path: Path) -> None:
    """An untrained model names a round that exists, a type and a side."""
    loaded = BENCHMARKS.get("rankjudge").load(folder, "context=none")
    spec = f"direct:decoding=constrained,budget.response_tokens=32@{save_toy_teacher(tmp_path)}"
    judge = make_judge(spec, JudgeBuild("", sampling=Sampling(1.5)))
    items = sorted(loaded.items, key=lambda item: len(str(item.candidates)))[:4]
    requests = [JudgeRequest(item, (0, 1), 0, loaded.task(item, (0, 1))) for item in items]
    for output in run_all(judge, requests):
        verdict = output.verdict
        assert isinstance(verdict, LocatedVerdict)
        assert verdict.failure
        assert verdict.round
        assert 1 <= verdict.round <= len(output.request.item.candidates[0]) // 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("direct:decoding=maybe@bundled:tiny", "decoding is free or constrained, not 'maybe'"),
        ("direct:decoding=constrained@http://127.0.0.1:9/v1#m", "needs a model that is loaded here, not http"),
    ],
)
def test_decoding_of_the_direct_judge(spec: str, message: str) -> None:
    with pytest.raises(BadJudge, match=message):
        make_judge(spec, JudgeBuild(""))
