"""Disk cache of prompt lengths, so that no attempt and no engine tokenizes a prompt that another one has measured."""

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_atomic
from judge_r1.core.strict_json import parse_json
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from retrieval.weights_cache import cache_dir

CHUNK = 32
"""Prompts that are measured at a time."""
PARALLEL_FROM = 256
"""Missing prompts from which on other processes help. Each takes seconds to start."""
MAX_PROCESSES = 16
SAVE_EVERY = 4096
"""Measured prompts after which the file is written, so that a killed run does not measure them again."""


def stored_lengths(
    prompts: Iterable[Prompt],
    tokenizer: SafeTokenizer,
    *,
    thinking: bool,
    progress: Callable[[int], None] = lambda done: None,
) -> list[int]:
    """The length of each prompt in tokens. Those that the cache lacks are measured, in several processes if there are
    many of them and several cores, and stored.

    A length is found by a hash of the prompt's text. The file belongs to the tokenizer, its chat template and
    `thinking`. `prompts` are read one at a time. `progress` gets the number of prompts that are done. An unreadable
    cache file counts as empty.
    """
    name = hashlib.sha256(f"2 {tokenizer.fingerprint} {thinking}".encode()).hexdigest()[:32]
    lengths = _Lengths(cache_dir() / "prompt_lengths" / f"{name}.json")
    keys: list[str] = []
    with _Measurement(tokenizer, thinking, lengths) as measurement:
        for prompt in prompts:
            keys.append(key := hashlib.sha256(repr(prompt).encode("utf-8", "surrogatepass")).hexdigest()[:32])
            if key not in lengths.known:
                measurement.add(key, prompt)
            progress(len(keys))
    return [lengths.known[key] for key in keys]


class _Lengths:
    """The lengths of a cache file by key, and those that are not in it yet."""

    def __init__(self, path: Path) -> None:
        self.path, self.known, self._unsaved = path, _read(path), 0

    def add(self, keys: Sequence[str], lengths: Sequence[int]) -> None:
        self.known.update(zip(keys, lengths, strict=True))
        self._unsaved += len(keys)
        if self._unsaved >= SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Writes the file with what other processes have added to it. A run works without the file."""
        if self._unsaved:
            self.known = _read(self.path) | self.known
            with suppress(JudgeError):
                write_atomic(self.path, [json.dumps(self.known)])
            self._unsaved = 0


class _Measurement:
    """Measures prompts in chunks: here at first, and in other processes from `PARALLEL_FROM` prompts on."""

    def __init__(self, tokenizer: SafeTokenizer, thinking: bool, lengths: _Lengths) -> None:
        self._tokenizer, self._thinking, self._lengths = tokenizer, thinking, lengths
        self._chunk: dict[str, Prompt] = {}
        self._started = 0
        self._pool: ProcessPoolExecutor | None = None
        self._running: deque[tuple[list[str], Future[list[int]]]] = deque()
        self._processes = min(len(os.sched_getaffinity(0)), MAX_PROCESSES)

    def __enter__(self) -> "_Measurement":
        return self

    def add(self, key: str, prompt: Prompt) -> None:
        self._chunk[key] = prompt
        if len(self._chunk) == CHUNK:
            self._start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._start()
                while self._running:
                    self._finish_one()
        finally:
            if self._pool:
                self._pool.shutdown(cancel_futures=True)
            self._lengths.save()

    def _start(self) -> None:
        keys, prompts = list(self._chunk), list(self._chunk.values())
        self._chunk = {}
        self._started += len(keys)
        if self._processes == 1 or self._started <= PARALLEL_FROM:
            self._lengths.add(keys, measure(prompts, self._tokenizer, self._thinking))
            return
        if self._pool is None:
            arguments = self._tokenizer, self._thinking
            self._pool = ProcessPoolExecutor(
                self._processes, mp_context=get_context("spawn"), initializer=_set_tokenizer, initargs=arguments
            )
        self._running.append((keys, self._pool.submit(_measure_there, prompts)))
        if len(self._running) > 4 * self._processes:  # bounds the prompts in memory
            self._finish_one()

    def _finish_one(self) -> None:
        keys, future = self._running.popleft()
        self._lengths.add(keys, future.result())


def measure(prompts: Sequence[Prompt], tokenizer: SafeTokenizer, thinking: bool) -> list[int]:
    """The length of each prompt in tokens."""
    return [len(tokenizer.prompt_ids(prompt, thinking=thinking)) for prompt in prompts]


_there: tuple[SafeTokenizer, bool]
"""The tokenizer of a measuring process, and whether it thinks."""


def _set_tokenizer(tokenizer: SafeTokenizer, thinking: bool) -> None:
    global _there
    _there = tokenizer, thinking


def _measure_there(prompts: Sequence[Prompt]) -> list[int]:
    return measure(prompts, *_there)


def _read(path: Path) -> dict[str, int]:
    """The lengths of a file; empty if it is missing or invalid."""
    try:
        lengths = parse_json(path.read_bytes(), path)
    except (OSError, ValueError):
        return {}
    valid = isinstance(lengths, dict) and all(isinstance(length, int) and length >= 0 for length in lengths.values())
    return lengths if valid else {}
