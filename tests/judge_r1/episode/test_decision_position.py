"""The position of the deciding token, with real tokenizers."""

import pytest
import real_tokenizers

from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.confidence import decision_position

JSON = '{"comparison": "A<B", "violated_principles": [2]}'
NAMES = ["tiny", "smollm2", "awkward", "spelled_out"]


def trajectory_of(name: str, *texts: str, comparison: str | None = "A<B") -> Trajectory:
    """A trajectory of turns with these texts and an observation between them."""
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
def test_the_position_is_where_the_sign_is_complete(name: str, texts: tuple[str, ...]) -> None:
    """The answer up to the position has no sign; with the token at the position it has one."""
    tokenizer = real_tokenizers.load(name)
    trajectory = trajectory_of(name, *texts)
    position = decision_position(trajectory, tokenizer.decode)
    assert position is not None
    begin = len(trajectory.token_ids) - len(tokenizer.encode_policy_text(texts[-1]))
    before, after = (tokenizer.decode(trajectory.token_ids[begin:end]) for end in (position, position + 1))
    answers = [text.split("<answer>")[-1] for text in (before, after)]
    assert "A<" not in answers[0]
    assert "A<" in answers[1]


def test_an_answer_that_contradicts_the_judgment_has_no_position() -> None:
    tokenizer = real_tokenizers.load("smollm2")
    assert (
        decision_position(trajectory_of("smollm2", f"<answer>{JSON}</answer>", comparison="A>B"), tokenizer.decode)
        is None
    )


def test_both_spellings_of_b_is_better() -> None:
    tokenizer = real_tokenizers.load("smollm2")
    trajectory = trajectory_of("smollm2", JSON.replace("A<B", "B > A"))
    position = decision_position(trajectory, tokenizer.decode)
    assert position is not None
    assert tokenizer.decode([trajectory.token_ids[position]]).strip() == ">"


def test_no_position_without_a_valid_answer() -> None:
    tokenizer = real_tokenizers.load("smollm2")
    assert decision_position(trajectory_of("smollm2", JSON, comparison=None), tokenizer.decode) is None
    empty = trajectory_of("smollm2", JSON).model_copy(
        update={"turns": (), "token_ids": (), "loss_mask": (), "logprobs": ()}
    )
    assert decision_position(empty, tokenizer.decode) is None
