"""The plain `openai` package against a live server."""

import json
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from serving_fixture import PAIR, Held, LiveServer, service, wait_for

from judge_r1.serving.middleware.api_keys import KeyFile, add_key

openai = pytest.importorskip("openai", reason="the openai package is in the extra dev")

PLAIN = (
    "[User Question]\nq\n[The Start of Assistant A's Answer]\none\n[The End of Assistant A's Answer]\n"
    "[The Start of Assistant B's Answer]\none two\n[The End of Assistant B's Answer]"
)
JUDGE: list[Any] = [{"role": "user", "content": "judge"}]
ASKED: list[Any] = [{"role": "system", "content": "End with [[A]] or [[B]]."}, {"role": "user", "content": PLAIN}]


def opened(server: LiveServer, key: str = "none") -> Any:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, timeout=20)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    keys = tmp_path_factory.mktemp("keys") / "keys.json"
    secret = add_key(keys, "ana")
    with LiveServer(service("longer", keys=KeyFile(keys))) as server, opened(server, secret) as found:
        yield found


def test_a_judge_object_in_extra_body(client: Any) -> None:
    pair = PAIR | {"context": "Ana paid.", "trace": True}
    answer = client.chat.completions.create(model="judge-r1", messages=JUDGE, extra_body={"judge": pair})
    judgment = json.loads(answer.choices[0].message.content)
    assert (judgment["winner"], judgment["judge"], judgment["turns"]) == ("A", "longer", [])
    assert answer.usage.total_tokens == 0


def test_a_plain_pairwise_prompt(client: Any) -> None:
    answer = client.chat.completions.create(model="longer", messages=ASKED, temperature=0, max_tokens=10)
    assert answer.choices[0].message.content == "The answer of assistant B is better.\n\n[[B]]"
    assert answer.choices[0].finish_reason == "stop"


def test_a_stream(client: Any) -> None:
    chunks = list(
        client.chat.completions.create(
            model="judge-r1", messages=ASKED, stream=True, stream_options={"include_usage": True}
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


def test_mistakes_are_its_own_errors(client: Any) -> None:
    hello: list[Any] = [{"role": "user", "content": "hello"}]
    with pytest.raises(openai.BadRequestError, match="does not compare two answers") as refused:
        client.chat.completions.create(model="judge-r1", messages=hello)
    assert refused.value.type == "invalid_request_error"
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="jr1-no").chat.completions.create(model="judge-r1", messages=ASKED)


def test_a_full_queue_is_its_rate_limit() -> None:
    held = Held()
    with LiveServer(service(held, max_concurrency=1, queue_size=0)) as server, opened(server) as one:
        first = Thread(target=lambda: one.chat.completions.create(model="judge-r1", messages=ASKED))
        first.start()
        wait_for(lambda: held.now == 1)
        with pytest.raises(openai.RateLimitError) as error:
            one.chat.completions.create(model="judge-r1", messages=ASKED)
        assert int(error.value.response.headers["retry-after"]) >= 1
        held.go.set()
        first.join(20)
