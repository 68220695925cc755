"""Attention weights of one position, and attention by prompt section of real episodes."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import real_tokenizers
from analysis_factories import evaluate_judges, right
from factories import mini_pairs

from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import task_episode
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.analysis import attention
from judge_r1.evaluation.analysis.attention import (
    Look,
    attention_figure,
    attention_grid,
    attention_row,
    by_section,
    last_attention,
    looks,
)
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged, Member
from judge_r1.evaluation.analysis.prompt_sections import SECTIONS, A
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.hub import load_model

CONFIG = EpisodeConfig(context="full", prompt="compact", retriever="bm25", prompt_tokens=800)


@cache
def tiny() -> Any:
    return load_model("bundled:tiny", attention="eager")


def episode(pair: ReasoningPair, ask: JudgeRequest) -> Trajectory:
    """A real episode whose ids are told: it searches once and answers right; one in three gives no answer."""
    tokenizer = real_tokenizers.load("tiny")
    assert isinstance(ask.task, PairwiseTask)
    machine = task_episode(ask.task, CONFIG, tokenizer, (), where="toy")
    first = tokenizer.encode_policy_text("<think>check</think><search>paid</search>")
    machine.feed(first, [0.0] * len(first))
    context = ask.task.context
    machine.observe([Evidence(case_id=pair.case_id, start=0, end=9, text=context[:9], score=1.0)])
    said = f'<answer>{{"comparison": "{right(pair, ask)}", "violated_principles": [1]}}</answer>'
    if int(pair.pair_id[:4], 16) % 3 == 0:
        said = "<answer>none</answer>"
    ids = tokenizer.encode_policy_text(said)
    machine.feed(ids, [0.0] * len(ids))
    return with_reward(machine.trajectory(), pair)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    says = {"row": episode}
    home = tmp_path_factory.mktemp("attention")
    return evaluate_judges(home, says, pairs=mini_pairs(12), orders=2, settings=CONFIG.model_dump(mode="json"))[0]


def test_attention_shares_equal_one_full_forward_pass(judged: Judged) -> None:
    import torch

    tokenizer, model = real_tokenizers.load("tiny"), tiny()
    found, without, layers = looks(judged, 0, model, tokenizer)
    assert layers == 4
    assert without + len(found) == 24
    assert 0 < without < 24
    by_id = {
        (*stored.order, item): stored.trajectory for item, votes in judged.results.votes.items() for stored in votes
    }
    for look, order in zip(found[:4], [(0, 1), (1, 0)] * 2, strict=True):
        trajectory = by_id[(*order, look.item_id)]
        written = [tokenizer.decode([token]) for token in trajectory.token_ids]
        sign = max(at for at, text in enumerate(written) if text.strip() in "<>" and text.strip())
        everything = [*trajectory.prompt_ids, *trajectory.token_ids]
        with torch.no_grad():
            out = model(input_ids=torch.tensor([everything]), output_attentions=True)
        rows = torch.stack(out.attentions[-4:])[:, 0].mean((0, 1))[len(trajectory.prompt_ids) + sign - 1]
        a_ids = tokenizer.encode_untrusted(judged.benchmark.labels[look.item_id].reasoning_a)
        at = next(n for n in range(len(everything)) if everything[n : n + len(a_ids)] == a_ids)
        section = A if order == (0, 1) else "reasoning B"
        assert look.attention[section] == pytest.approx(float(rows[at : at + len(a_ids)].sum()), abs=1e-5)
        assert sum(look.attention.values()) == pytest.approx(1)
        assert sum(look.tokens.values()) == pytest.approx(1)
        read = len(trajectory.prompt_ids) + sign
        assert look.tokens[section] == pytest.approx(len(a_ids) / read)
        assert look.attention["first token"] == pytest.approx(float(rows[0]), abs=1e-5)
        shown = [n for n, mask in enumerate(trajectory.loss_mask) if not mask]
        places = [len(trajectory.prompt_ids) + n for n in shown]
        assert look.attention["passages"] == pytest.approx(float(rows[places].sum()), abs=1e-5)
        assert set(look.attention) <= set(SECTIONS)
        assert look.right


def test_attention_row_has_intervals_and_the_papers_numbers(judged: Judged) -> None:
    found, without, layers = looks(judged, 0, tiny(), real_tokenizers.load("tiny"))
    row = {"without": without, "layers": layers, **attention_row(found)}
    sections = row["sections"]
    assert sum(part["attention"] for part in sections.values()) == pytest.approx(1)
    assert sum(part["tokens"] for part in sections.values()) == pytest.approx(1)
    assert sum(part["of_five"] for part in sections.values() if part["of_five"] is not None) == pytest.approx(1)
    assert sections["principles"]["paper"] == 0.9011
    assert all(part["ci95"][0] <= part["attention"] <= part["ci95"][1] for part in sections.values())
    assert row["wrong"] == 0
    assert sections["principles"]["right_minus_wrong"] is None
    grid = attention_grid("row", row)
    assert [cells[0] for cells in grid.rows] == [name for name in SECTIONS if name in sections]
    assert f"{without} votes without a decision" in grid.title
    assert attention_figure("row", row).svg.count("<rect") == 2 * len(sections)


def test_prompt_that_differs_from_the_vote_is_rejected(judged: Judged) -> None:
    [member] = judged.members
    without = Member(member.judge, {**member.settings, "context": "none"})
    other = Judged(judged.name, [without], judged.benchmark, judged.results)
    with pytest.raises(AnalysisError, match="is not the one in its vote"):
        looks(other, 0, tiny(), real_tokenizers.load("tiny"))


def test_known_shares_give_known_differences() -> None:
    def look(cluster: str, first: bool, right: bool, on_a: float) -> Look:
        return Look("i", cluster, first, right, {A: on_a, "written": 1 - on_a}, {A: 0.25, "written": 0.75})

    found = [look("x", True, True, 0.6), look("y", True, False, 0.4), look("z", False, True, 0.2)]
    part = attention_row(found)["sections"][A]
    assert part["attention"] == pytest.approx(0.4)
    assert part["relative"] == pytest.approx(1.6)
    assert part["of_five"] == pytest.approx(1)
    assert part["first_minus_second"]["value"] == pytest.approx(0.3)
    assert part["right_minus_wrong"]["value"] == pytest.approx(0.0)
    assert part["right_minus_wrong"]["ci95"] is None  # two decisions and one have no interval
    many = [look(f"{n}", n % 2 == 0, True, 0.5 + n / 100) for n in range(10)]
    low, high = attention_row(many)["sections"][A]["first_minus_second"]["ci95"]
    assert low <= -0.01 <= high
    assert "context" not in attention_row(found)["sections"]


def test_no_decision_is_reported() -> None:
    with pytest.raises(AnalysisError, match="no decision was found"):
        attention_row([])


def test_weights_are_summed_by_section() -> None:
    assert by_section(np.array([0.5, 0.25, 0.25]), ["x", "y", "x"]) == {"x": 0.75, "y": 0.25}
    with pytest.raises(ValueError, match="zip"):
        by_section([1.0], [])


IDS = [3 + (7 * n + 5 * n * n) % 60 for n in range(40)]


@cache
def small_model(attention: str = "eager", window: int | None = None, layers: int = 6) -> Any:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=256, initializer_range=0.6,
        use_sliding_window=window is not None, sliding_window=window, max_window_layers=layers // 2,
        attn_implementation=attention,
    )  # fmt: skip
    return Qwen3ForCausalLM(config).eval()


def plainly(model: Any, ids: list[int], layers: int) -> Any:
    import torch

    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), output_attentions=True)
    return np.stack([layer[0, :, -1].mean(0).double().numpy() for layer in out.attentions[-layers:]])


@pytest.mark.parametrize("chunk", [1, 7, 39, 512])
def test_last_attention_equals_the_last_row_of_the_full_matrix(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "CHUNK", chunk)
    found = last_attention(small_model(), IDS)
    assert found.shape == (4, len(IDS))
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(found, plainly(small_model(), IDS, 4), atol=1e-5)
    assert found.std() > 0.01  # the attention is not uniform


def test_model_with_fewer_layers_returns_fewer_rows() -> None:
    assert last_attention(small_model(layers=2), IDS).shape == (2, len(IDS))


def test_attention_without_weights_is_rejected() -> None:
    with pytest.raises(AnalysisError, match="attention='eager'"):
        last_attention(small_model("sdpa"), IDS)
