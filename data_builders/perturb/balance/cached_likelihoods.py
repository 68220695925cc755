"""Keeps the likelihoods that a build has read, so that a stopped build continues where it was."""

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from data_builders.audit.likelihood import TAIL, FlawLikelihoods, LikelihoodReader
from data_builders.teachers import TeacherReply
from data_builders.teachers.answer_cache import Cache, Entry
from judge_r1.core.record_base import content_hash

DECIMALS = 3


class CachedLikelihoods:
    """The likelihoods of a model, rounded to `DECIMALS`, with an answer cache at `path` if one is given.

    The model is loaded when the first text is read. Methods raise ModelUnavailable if it cannot be loaded, and
    TeacherError if the cache cannot be read or written.
    """

    def __init__(self, model: str, path: Path | None) -> None:
        self._model, self._path = model, path

    @cached_property
    def _likelihoods(self) -> FlawLikelihoods:
        return FlawLikelihoods(LikelihoodReader(self._model))

    def features(self, reference: str, flawed: Sequence[str]) -> list[dict[str, float]]:
        """The features of flawed reasonings, flawed minus reference."""

        def read() -> list[dict[str, float]]:
            features = self._likelihoods.features(reference, flawed)
            return [{name: round(value, DECIMALS) for name, value in found.items()} for found in features]

        return self._stored(("features", TAIL, reference, list(flawed)), read) if flawed else []

    def _stored(self, parts: tuple[Any, ...], read: Callable[[], list[Any]]) -> list[Any]:
        if self._path is None:
            return read()
        key = content_hash("likelihoods", self._model, *parts, length=40)
        with Cache(self._path) as cache:
            reply = cache.get(key)
            if reply is None:
                text = json.dumps(read())
                reply = TeacherReply(text=text, input_tokens=0, output_tokens=0, finished=True, model=self._model)
                [reply] = cache.put_all([Entry(key, f"reader:{self._model}", reply)])
        return list(json.loads(reply.text))
