"""Keeps the likelihoods that a build has read, so that a stopped build continues where it was."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from data_builders.teachers import TeacherReply
from data_builders.teachers.answer_cache import Cache, Entry
from data_builders.text_units.likelihood import TAIL, LikelihoodReader, likelihood_features
from judge_r1.core.record_base import content_hash

DECIMALS = 3
SCHEMA = 2
"""Changes when the values of a text change: cached ones are then read again."""


class CachedLikelihoods:
    """The likelihoods of a model, rounded to `DECIMALS`, with an answer cache at `path` if one is given.

    The model is loaded when the first text is read. Methods raise ModelUnavailable if it cannot be loaded, and
    TeacherError if the cache cannot be read or written.
    """

    def __init__(self, model: str, path: Path | None) -> None:
        self._model, self._path = model, path

    def features(self, reference: str, flawed: Sequence[str]) -> list[dict[str, float]]:
        """The features of flawed reasonings, flawed minus reference."""
        if not flawed:
            return []
        if self._path is None:
            return self._read(reference, flawed)
        key = content_hash("likelihoods", self._model, SCHEMA, TAIL, reference, list(flawed), length=40)
        with Cache(self._path) as cache:
            reply = cache.get(key)
            if reply is None:
                text = json.dumps(self._read(reference, flawed))
                reply = TeacherReply(text=text, input_tokens=0, output_tokens=0, finished=True, model=self._model)
                [reply] = cache.put_all([Entry(key, f"reader:{self._model}", reply)])
        return list(json.loads(reply.text))

    def _read(self, reference: str, flawed: Sequence[str]) -> list[dict[str, float]]:
        first, *others = self._reader.read([reference, *flawed], tail=TAIL)
        found = (likelihood_features(other, first) for other in others)
        return [{name: round(value, DECIMALS) for name, value in features.items()} for features in found]

    @cached_property
    def _reader(self) -> LikelihoodReader:
        return LikelihoodReader(self._model, fast=True)
