"""All errors that a user can cause derive from `JudgeError`."""

import importlib
import inspect
import pkgutil

import judge_r1.core
import judge_r1.episode
from judge_r1.core.errors import JudgeError

PROGRAMMING = {
    "judge_r1.episode.parsing._RepeatedKey",
    "judge_r1.episode.readable_json._Broken",
}  # never leave their modules


def test_all_exceptions_derive_from_judge_error() -> None:
    found = set()
    for info in [
        *pkgutil.walk_packages(judge_r1.core.__path__, "judge_r1.core."),
        *pkgutil.walk_packages(judge_r1.episode.__path__, "judge_r1.episode."),
    ]:
        module = importlib.import_module(info.name)
        for name, thing in inspect.getmembers(module, inspect.isclass):
            if issubclass(thing, Exception) and thing.__module__ == module.__name__:
                found.add(f"{module.__name__}.{name}")
                assert issubclass(thing, JudgeError) or f"{module.__name__}.{name}" in PROGRAMMING, name
    assert {
        "judge_r1.core.jsonl.BadRecord",
        "judge_r1.episode.rollout.PromptTooLong",
        "judge_r1.core.yaml_config.ConfigError",
    } <= found
