"""The plain `openai` package against a live server."""

import json
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from serving_fixture import PAIR, BlockedJudge, LiveServer, service, wait_for

from judge_r1.serving.middleware.api_keys import KeyFile, add_key

openai = pytest.importorskip("openai", reason="the openai package is in the extra dev")

PROMPT = (
    "[User Question]\nq\n[The Start of Assistant A's Answer]\none\n[The End of Assistant A's Answer]\n"
    "[The Start of Assistant B's Answer]\none two\n[The End of Assistant B's Answer]"
)
JUDGE: list[Any] = [{"role": "user", "content": "judge"}]
PAIRWISE: list[Any] = [{"role": "system", "content": "End with [[A]] or [[B]]."}, {"role": "user", "content": PROMPT}]


def connect(server: LiveServer, key: str = "none") -> Any:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, timeout=20)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    keys = tmp_path_factory.mktemp("keys") / "keys.json"
    secret = add_key(keys, "ana")
    with LiveServer(service("longer", keys=KeyFile(keys))) as server, connect(server, secret) as found:
        yield found


def test_a_judge_object_in_extra_body(client: Any) -> None:
    pair = PAIR | {"context": "Ana paid.", "trace": True}
    answer = client.chat.completions.create(model="judge-r1", messages=JUDGE, extra_body={"judge": pair})
    judgment = json.loads(answer.choices[0].message.content)
    assert (judgment["winner"], judgment["judge"], judgment["turns"]) == ("A", "longer", [])
    assert answer.usage.total_tokens == 0


def test_a_plain_pairwise_prompt(client: Any) -> None:
    answer = client.chat.completions.create(model="longer", messages=PAIRWISE, temperature=0, max_tokens=10)
    assert answer.choices[0].message.content == "The answer of assistant B is better.\n\n[[B]]"
    assert answer.choices[0].finish_reason == "stop"


def test_a_stream(client: Any) -> None:
    chunks = list(
        client.chat.completions.create(
            model="judge-r1", messages=PAIRWISE, stream=True, stream_options={"include_usage": True}
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.endswith("[[B]]")
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage.total_tokens == 0
    assert len({chunk.id for chunk in chunks}) == 1


def test_models(client: Any) -> None:
    assert [model.id for model in client.models.list()] == ["longer", "judge-r1"]
    assert client.models.retrieve("judge-r1").id == "judge-r1"
    with pytest.raises(openai.NotFoundError, match="no model 'gpt'"):
        client.models.retrieve("gpt")


def test_errors_are_those_of_openai(client: Any) -> None:
    hello: list[Any] = [{"role": "user", "content": "hello"}]
    with pytest.raises(openai.BadRequestError, match="contains no two answers") as raised:
        client.chat.completions.create(model="judge-r1", messages=hello)
    assert raised.value.type == "invalid_request_error"
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="jr1-no").chat.completions.create(model="judge-r1", messages=PAIRWISE)


def test_a_full_queue_is_a_rate_limit_error() -> None:
    blocked = BlockedJudge()
    with LiveServer(service(blocked, max_concurrency=1, queue_size=0)) as server, connect(server) as one:
        first = Thread(target=lambda: one.chat.completions.create(model="judge-r1", messages=PAIRWISE))
        first.start()
        wait_for(lambda: blocked.running == 1)
        with pytest.raises(openai.RateLimitError) as error:
            one.chat.completions.create(model="judge-r1", messages=PAIRWISE)
        assert int(error.value.response.headers["retry-after"]) >= 1
        blocked.release.set()
        first.join(20)


def test_a_deadline_is_not_repeated() -> None:
    """openai repeats a 504 twice, unless the response forbids it."""
    blocked = BlockedJudge()
    with LiveServer(service(blocked, timeout=0.2)) as server:
        with connect(server).with_options(max_retries=2) as one, pytest.raises(openai.InternalServerError) as error:
            one.chat.completions.create(model="judge-r1", messages=PAIRWISE)
        assert error.value.status_code == 504
        assert blocked.started == 1
