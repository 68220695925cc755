"""A model server for the commands of the docs: OpenAI's chat API, which answers each kind of prompt in the form that it
asks for, and vLLM's completions by the tiny model. A question is answered with yes, in any order of its answers, and an
item of labels with the word in its brackets."""

import json
import re
from functools import cache
from typing import Any

from fake_judge_endpoint import Answer, chat_completion
from fake_vllm import answering
from hellobench_factories import scripted_answer

from judge_r1.models.hub import load_model, load_tokenizer

VERDICT = json.dumps({"comparison": "A>B", "violated_principles": [2]})


def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    if path == "/v1/completions":
        return _tiny()(path, body)
    messages = [message["content"] for message in body["messages"]]
    prompt = "\n".join(map(str, messages))
    if "</search>" in (body.get("stop") or ()):
        verdict = VERDICT if prompt.rfind("Yes.") <= prompt.rfind("No.") else VERDICT.replace("A>B", "A<B")
        return chat_completion("<search>ana paid" if len(messages) == 2 else f"<answer>{verdict}")
    if "checklist" in prompt.lower():
        return chat_completion(scripted_answer("", prompt, 0))
    if labels := re.findall(r"\[(pass|fail)\]", prompt):
        return chat_completion(labels[-1])
    return chat_completion(VERDICT)


@cache
def _tiny() -> Answer:
    return answering(load_model("bundled:tiny"), load_tokenizer("bundled:tiny").decode)
