"""Answers in the two lines of Table 6, run through the state machine, as both parsers read them."""

import pytest
from evaluation_factories import pair_result
from factories import ByteTokenizer, make_case, make_pair

from judge_r1.core.pair_set import PairSet
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.training.data.targets import answer

CASE = make_case()
PAIR = make_pair(CASE)
DATA = PairSet.of([CASE], [PAIR])
CONFIG = EpisodeConfig(search=False, prompt="table6")


class ChatBytes(ByteTokenizer):
    """Bytes with the one template that a prompt needs."""

    def prompt_ids(self, prompt: object, *, thinking: bool = False) -> list[int]:
        return [1, 2]


@pytest.mark.parametrize(
    ("written", "valid", "tolerant"),
    [
        (answer(PAIR.gold, "table6"), True, True),
        (f"Well: {answer(PAIR.gold, 'table6')}", False, True),
        ("A or B", False, False),
    ],
)
def test_both_parsers_read_table_6_answers(written: str, valid: bool, tolerant: bool) -> None:
    tokenizer: SafeTokenizer = ChatBytes()  # type: ignore[assignment]
    episode = new_episode(PAIR, DATA, CONFIG, tokenizer, (0,))
    ids = [*written.encode(), 0]
    episode.feed(ids, [0.0] * len(ids))
    counted = pair_result("row", PAIR, with_reward(episode.trajectory(), PAIR))
    assert (counted.valid, counted.labels.valid_strict, counted.labels.valid_tolerant) == (valid, valid, tolerant)
    assert counted.score == valid
