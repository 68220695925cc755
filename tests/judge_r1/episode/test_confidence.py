"""The probability of the decision, against the text and against a plain forward pass."""

from math import exp, log

import pytest
from factories import ByteTokenizer, mini_pairs
from hypothesis import given
from hypothesis import strategies as st
from paths import RECIPES

from judge_r1.episode.confidence import chat_confidence, confidence, opposite_tokens, sign_position, token_confidence
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import parse_tolerant
from judge_r1.training.recipe import load_recipe

JUDGMENT = '{"comparison": "A>B", "violated_principles": [1], "explanation": "no, A<B"}'
ANSWER = f"<think>A>B? <b></think><answer>{JUDGMENT}</answer>"
TOKENIZER = ByteTokenizer(b"<answer>", b'": "', b">B", b"<B", b"A")


def test_the_place_is_that_of_the_comparison() -> None:
    assert ANSWER[: sign_position(ANSWER)].endswith('"comparison": "A')
    assert sign_position("I take B < A here; A>B not") == 9
    assert sign_position("nothing") is None
    assert sign_position('{"comparison": "A\\u003eB"}') is None


def played(ids: list[int], **fields: object) -> Episode:
    episode = Episode((), Budget(max_searches=0, response_tokens=500), TOKENIZER, **fields)  # type: ignore[arg-type]
    episode.feed(ids, [-0.001 * n for n in range(len(ids))])
    return episode


def sure(episode: Episode) -> float | None:
    return token_confidence(episode.trajectory(), episode.alternative_logprobs, TOKENIZER.decode)


def test_an_episode_knows_the_token_that_decided() -> None:
    ids = TOKENIZER.encode_trusted(ANSWER)
    episode = played(ids)
    at = len(ids) - 1 - ids[::-1].index(TOKENIZER.id_of(b">B"))
    assert sure(episode) == pytest.approx(exp(-0.001 * at))
    episode.alternative_logprobs[at] = -1.0
    p, q = exp(-0.001 * at), exp(-1.0)
    assert sure(episode) == pytest.approx(p / (p + q))


def test_bare_answers_and_what_is_no_judgment() -> None:
    bare = [*TOKENIZER.encode_trusted('ok {"comparison": "B > A", "violated_principles": []}'), 0]
    episode = played(bare, eos_ids=(0,), parse_bare=parse_tolerant)
    assert sure(episode) == pytest.approx(exp(-0.001 * bare.index(ord(">"))))
    assert sure(played(TOKENIZER.encode_trusted("<answer>A>B</answer>"))) is None


def test_a_comparison_in_the_thought_is_not_the_decision() -> None:
    ids = [*TOKENIZER.encode_trusted(f"<think>{JUDGMENT.replace('A>B', 'A<B')}? no</think>{JUDGMENT} or A<B"), 0]
    episode = played(ids, eos_ids=(0,), parse_bare=parse_tolerant)
    at = len(ids) - 1 - ids[::-1].index(TOKENIZER.id_of(b">B"))
    assert sure(episode) == pytest.approx(exp(-0.001 * at))


@given(st.floats(-30, 0), st.floats(-30, 0))
def test_two_ways_share_one_probability(chosen: float, rival: float) -> None:
    assert confidence(chosen, rival) + confidence(rival, chosen) == pytest.approx(1)
    assert confidence(chosen, rival) == pytest.approx(exp(chosen) / (exp(chosen) + exp(rival)))
    assert confidence(chosen, None) == pytest.approx(exp(chosen))


def test_tokens_are_turned_where_the_other_way_is_one_token() -> None:
    assert opposite_tokens({">": 0, "<": 1, '>"': 2, "A<B": 3, "A>B": 4, "x": 5, "<|end|>": 6}) == {
        0: 1,
        1: 0,
        3: 4,
        4: 3,
    }


def test_chat_entries() -> None:
    entries = [{"token": t, "logprob": log(p)} for t, p in (('{"comparison": "A', 1), (">", 0.5), ('B"}', 1))]
    assert chat_confidence(entries) == pytest.approx(0.5)
    assert chat_confidence(entries[:1]) is None
    assert chat_confidence(None) is None


def test_a_local_judge_sets_both_ways_against_each_other() -> None:
    """By the demo's base model, which is made to answer: the probability of both tokens out of one plain pass."""
    import torch

    from judge_r1.episode.driver import EpisodeDriver
    from judge_r1.episode.rollout import new_episode
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.engine import LocalModel
    from judge_r1.models.hub import eos_ids, load_model, load_tokenizer

    hf_tokenizer, model = load_tokenizer("bundled:tiny"), load_model("bundled:tiny").eval()
    tokenizer, data = SafeTokenizer(hf_tokenizer), mini_pairs(3)
    recipe = load_recipe(RECIPES / "mini" / "grpo.yaml")
    answer = tokenizer.encode_trusted('<answer>{"comparison": "A>B", "violated_principles": [1]}</answer>')
    flipped = opposite_tokens(hf_tokenizer.get_vocab())
    [decides] = [n for n, token in enumerate(answer) if token in flipped]

    class Forced(torch.nn.Module):
        """The model, with the first half of the answer as the only thing that it can say."""

        def __init__(self) -> None:
            super().__init__()
            self.config, self.device, self.step = model.config, model.device, 0

        def forward(self, **inputs: object) -> object:
            out = model(**inputs)
            if self.step != decides:
                out.logits[:, -1, answer[self.step]] += 1e6
            else:
                out.logits[:, -1, [answer[decides], flipped[answer[decides]]]] += 1e3
            self.step += 1
            return out

    episode = new_episode(data.pairs[0], data, recipe.episode, tokenizer, eos_ids("bundled:tiny", hf_tokenizer))
    local = LocalModel(Forced(), tokenizer.decode, (), pad_id=0, max_rows=1)
    EpisodeDriver(local, alternatives=flipped).run_episodes([episode], lambda queries: [], 0.0)
    assert episode.trajectory().judgment is not None
    with torch.no_grad():
        before = torch.tensor([[*episode.prompt_ids, *answer[:decides]]])
        logits = model(before).logits[0, -1].float()
    chosen = episode.token_ids[decides]
    pair = torch.softmax(logits[[chosen, flipped[chosen]]], -1)
    assert token_confidence(episode.trajectory(), episode.alternative_logprobs, tokenizer.decode) == pytest.approx(
        float(pair[0]), abs=1e-3
    )
    assert float(pair[0]) >= 0.5
