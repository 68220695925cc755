"""Keeps the likelihoods that a build has read, so that a stopped build continues where it was."""

import json
from collections.abc import Sequence
from pathlib import Path

from data_builders.audit.likelihood import TAIL, LikelihoodReader, flaw_likelihoods
from data_builders.perturb.rules.selection import Likelihoods
from data_builders.teachers import TeacherReply
from data_builders.teachers.answer_cache import Cache, Entry
from judge_r1.core.record_base import content_hash

DECIMALS = 3


def cached_likelihoods(model: str, path: Path | None) -> Likelihoods:
    """The likelihood features of a model, rounded to `DECIMALS`, with an answer cache at `path` if one is given.

    Raises:
        ModelUnavailable: The model or its tokenizer cannot be loaded.
        TeacherError: When called, the cache cannot be read or written.
    """
    read = flaw_likelihoods(LikelihoodReader(model))

    def rounded(reference: str, flawed: Sequence[str]) -> list[dict[str, float]]:
        return [{name: round(value, DECIMALS) for name, value in found.items()} for found in read(reference, flawed)]

    def cached(reference: str, flawed: Sequence[str]) -> list[dict[str, float]]:
        if path is None or not flawed:
            return rounded(reference, flawed)
        key = content_hash("likelihoods", model, TAIL, reference, list(flawed), length=40)
        with Cache(path) as cache:
            reply = cache.get(key)
            if reply is None:
                found = json.dumps(rounded(reference, flawed))
                reply = TeacherReply(text=found, input_tokens=0, output_tokens=0, finished=True, model=model)
                [reply] = cache.put_all([Entry(key, f"reader:{model}", reply)])
        features: list[dict[str, float]] = json.loads(reply.text)
        return features

    return cached
