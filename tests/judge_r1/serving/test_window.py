"""A judge that can answer no request is an error before the server is ready."""

import pytest

from judge_r1.judges.base import BadJudge
from judge_r1.serving.service import open_service


@pytest.mark.parametrize("spec", ["agentic@bundled:tiny", "direct:budget.response_tokens=2000@bundled:tiny"])
def test_a_window_without_room_for_the_shortest_prompt_is_an_error_at_the_start(spec: str) -> None:
    """The model reads 2,048 tokens, and an episode of the default budget takes up to 7,000."""
    with pytest.raises(BadJudge, match=r"no request with a case.* the 2048 tokens that the model reads: lower budget"):
        open_service(spec)
