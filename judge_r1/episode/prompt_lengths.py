"""Disk cache of prompt lengths, so that no attempt and no engine tokenizes a prompt that another one has measured."""

import hashlib
import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.strict_json import parse_json
from retrieval.weights_cache import cache_dir

CHUNK = 32
"""Prompts that are measured at a time, which bounds the prompts in memory."""
MAX_THREADS = 16
SAVE_EVERY = 4096
"""Measured prompts after which the file is written, so that a killed run does not measure them again."""


def stored_lengths(prompts: Iterable[Prompt], tokenizer: SafeTokenizer, *, thinking: bool) -> list[int]:
    """The length of each prompt in tokens. Those that the cache lacks are measured and stored.

    A length is found by a hash of the prompt's text. The file belongs to the tokenizer, its chat template and
    `thinking`. `prompts` are read one at a time. An unreadable cache file counts as empty.
    """
    name = hashlib.sha256(f"2 {tokenizer.fingerprint} {thinking}".encode()).hexdigest()[:32]
    cache = _Lengths(cache_dir() / "prompt_lengths" / f"{name}.json")
    keys: list[str] = []
    missing: dict[str, Prompt] = {}

    def length(prompt: Prompt) -> int:
        return len(tokenizer.prompt_ids(prompt, thinking=thinking))

    # threads suffice: the encoder of long texts releases the interpreter's lock
    with ThreadPoolExecutor(min(len(os.sched_getaffinity(0)), MAX_THREADS)) as pool:
        try:
            for prompt in prompts:
                keys.append(key := hashlib.sha256(repr(prompt).encode("utf-8", "surrogatepass")).hexdigest()[:32])
                if key not in cache.known:
                    missing[key] = prompt
                if len(missing) == CHUNK:
                    cache.add(dict(zip(missing, pool.map(length, missing.values()), strict=True)))
                    missing.clear()
            cache.add(dict(zip(missing, pool.map(length, missing.values()), strict=True)))
        finally:
            cache.save()
    return [cache.known[key] for key in keys]


class _Lengths:
    """The lengths of a cache file by key, and those that are not in it yet."""

    def __init__(self, path: Path) -> None:
        self.path, self.known, self._unsaved = path, _read(path), 0

    def add(self, lengths: dict[str, int]) -> None:
        self.known |= lengths
        self._unsaved += len(lengths)
        if self._unsaved >= SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Writes the file with what other processes have added to it. A run works without the file."""
        if self._unsaved:
            self.known = _read(self.path) | self.known
            with suppress(JudgeError):
                write_atomic(self.path, [json.dumps(self.known)])
            self._unsaved = 0


def _read(path: Path) -> dict[str, int]:
    """The lengths of a file; empty if it is missing or invalid."""
    try:
        lengths = parse_json(path.read_bytes(), path)
    except (OSError, ValueError):
        return {}
    valid = isinstance(lengths, dict) and all(isinstance(length, int) and length >= 0 for length in lengths.values())
    return lengths if valid else {}
