"""The token with which a judge decides, against a scan of every prefix, by real tokenizers."""

import pytest
import real_tokenizers

from judge_r1.core.records import Judgment, Trajectory, Turn
from judge_r1.episode.confidence import decision_position

JSON = '{"comparison": "A<B", "violated_principles": [2]}'
NAMES = ["tiny", "smollm2", "awkward", "spelled_out"]


def told(name: str, *texts: str, comparison: str | None = "A<B") -> Trajectory:
    """Turns of these texts, with an observation of two ids between them."""
    tokenizer = real_tokenizers.load(name)
    ids: list[int] = []
    mask: list[int] = []
    turns = []
    for text in texts:
        if ids:
            ids, mask = [*ids, *tokenizer.encode_trusted("«x»")], [*mask, *[0] * len(tokenizer.encode_trusted("«x»"))]
        new = tokenizer.encode_policy_text(text)
        ids, mask = [*ids, *new], [*mask, *[1] * len(new)]
        turns.append(Turn(text=tokenizer.decode(new)))
    return Trajectory(
        prompt_ids=(1,), token_ids=tuple(ids), loss_mask=tuple(mask), logprobs=(0.0,) * len(ids), turns=tuple(turns),
        judgment=Judgment(comparison=comparison, violated_principles=(2,)) if comparison else None, ended="answer",
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "texts",
    [
        (f"<answer>{JSON}</answer>",),
        ("<think>A>B? “no”: A<B</think><search>who</search>", f"<think>é A>B</think><answer>{JSON}</answer>"),
        (JSON,),
        ("A<B\nviolated_principles: [2]",),
    ],
)
def test_the_place_is_where_the_sign_comes_to_be(name: str, texts: tuple[str, ...]) -> None:
    """Against a scan of every prefix: before the place the answer has no sign, with it there is one."""
    tokenizer = real_tokenizers.load(name)
    trajectory = told(name, *texts)
    place = decision_position(trajectory, tokenizer.decode)
    assert place is not None
    begin = len(trajectory.token_ids) - len(tokenizer.encode_policy_text(texts[-1]))
    before, after = (tokenizer.decode(trajectory.token_ids[begin:end]) for end in (place, place + 1))
    answers = [text.split("<answer>")[-1] for text in (before, after)]
    assert "A<" not in answers[0]
    assert "A<" in answers[1]


def test_an_answer_that_says_otherwise_than_the_judgment_has_no_certain_place() -> None:
    tokenizer = real_tokenizers.load("smollm2")
    assert decision_position(told("smollm2", f"<answer>{JSON}</answer>", comparison="A>B"), tokenizer.decode) is None


def test_b_better_than_a_may_be_written_with_either_sign() -> None:
    tokenizer = real_tokenizers.load("smollm2")
    trajectory = told("smollm2", JSON.replace("A<B", "B > A"))
    place = decision_position(trajectory, tokenizer.decode)
    assert place is not None
    assert tokenizer.decode([trajectory.token_ids[place]]).strip() == ">"


def test_there_is_none_without_a_valid_answer() -> None:
    tokenizer = real_tokenizers.load("smollm2")
    assert decision_position(told("smollm2", JSON, comparison=None), tokenizer.decode) is None
    silent = told("smollm2", JSON).model_copy(update={"turns": (), "token_ids": (), "loss_mask": (), "logprobs": ()})
    assert decision_position(silent, tokenizer.decode) is None
