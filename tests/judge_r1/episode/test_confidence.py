"""Confidence of a decision, compared with the text and with a plain forward pass."""

from math import exp, log

import pytest
from factories import ByteTokenizer, mini_pairs
from paths import RECIPES

from judge_r1.episode.confidence import chat_confidence, opposite_tokens, sign_position, token_confidence
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import parse_tolerant
from judge_r1.training.recipe import load_recipe

JUDGMENT = '{"comparison": "A>B", "violated_principles": [1], "explanation": "no, A<B"}'
ANSWER = f"<think>A>B? <b></think><answer>{JUDGMENT}</answer>"
TOKENIZER = ByteTokenizer(b"<answer>", b'": "', b">B", b"<B", b"A")


def test_sign_position() -> None:
    assert ANSWER[: sign_position(ANSWER)].endswith('"comparison": "A')
    assert sign_position("I take B < A here; A>B not") == 9
    assert sign_position("nothing") is None
    assert sign_position('{"comparison": "A\\u003eB"}') is None


def run_episode(ids: list[int], **fields: object) -> Episode:
    episode = Episode((), Budget(max_searches=0, response_tokens=500), TOKENIZER, **fields)  # type: ignore[arg-type]
    episode.feed(ids, [-0.001 * n for n in range(len(ids))])
    return episode


def confidence_of(episode: Episode) -> float | None:
    return token_confidence(episode.trajectory(), episode.alternative_logprobs, TOKENIZER.decode)


def test_confidence_of_an_answer_in_tags() -> None:
    ids = TOKENIZER.encode_trusted(ANSWER)
    episode = run_episode(ids)
    position = len(ids) - 1 - ids[::-1].index(TOKENIZER.id_of(b">B"))
    assert confidence_of(episode) == pytest.approx(exp(-0.001 * position))
    episode.alternative_logprobs[position] = -1.0
    p, q = exp(-0.001 * position), exp(-1.0)
    assert confidence_of(episode) == pytest.approx(p / (p + q))


def test_answers_without_tags_and_invalid_answers() -> None:
    bare = [*TOKENIZER.encode_trusted('ok {"comparison": "B > A", "violated_principles": []}'), 0]
    episode = run_episode(bare, eos_ids=(0,), parse_bare=parse_tolerant)
    assert confidence_of(episode) == pytest.approx(exp(-0.001 * bare.index(ord(">"))))
    assert confidence_of(run_episode(TOKENIZER.encode_trusted("<answer>A>B</answer>"))) is None


def test_a_comparison_in_the_thought_is_ignored() -> None:
    ids = [*TOKENIZER.encode_trusted(f"<think>{JUDGMENT.replace('A>B', 'A<B')}? no</think>{JUDGMENT} or A<B"), 0]
    episode = run_episode(ids, eos_ids=(0,), parse_bare=parse_tolerant)
    position = len(ids) - 1 - ids[::-1].index(TOKENIZER.id_of(b">B"))
    assert confidence_of(episode) == pytest.approx(exp(-0.001 * position))


def test_opposite_tokens() -> None:
    vocabulary = {">": 0, "<": 1, '>"': 2, "A<B": 3, "A>B": 4, "x": 5, "<|end|>": 6}
    assert opposite_tokens(vocabulary) == {0: 1, 1: 0, 3: 4, 4: 3}


def test_confidence_from_chat_logprobs() -> None:
    entries = [{"token": t, "logprob": log(p)} for t, p in (('{"comparison": "A', 1), (">", 0.5), ('B"}', 1))]
    assert chat_confidence(entries) == pytest.approx(0.5)
    assert chat_confidence(entries[:1]) is None
    assert chat_confidence(None) is None


def test_a_local_judge_compares_both_decisions() -> None:
    """The base model of the demo, forced to answer: the confidence equals that of one plain forward pass."""
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

    class ForcedAnswer(torch.nn.Module):
        """The model, forced to write the first half of the answer."""

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
    local = LocalModel(ForcedAnswer(), tokenizer.decode, (), pad_id=0, max_rows=1)
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
