"""Disk cache of prompt lengths, so that later training runs do not tokenize the same prompts again."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_atomic
from judge_r1.core.strict_json import parse_json
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from retrieval.weights_cache import cache_dir


def stored_lengths(
    prompts: Sequence[Prompt], tokenizer: SafeTokenizer, *, thinking: bool, measure: Callable[[], list[int]]
) -> list[int]:
    """The length of each prompt in tokens, from the cache if it has them.

    The cache key covers the prompts, the tokenizer, its chat template and `thinking`. On a cache miss, `measure` counts
    the tokens and the result is stored. An unreadable cache file counts as a miss.
    """
    digest = hashlib.sha256(f"{tokenizer.fingerprint} {thinking}".encode())
    for prompt in prompts:
        digest.update(repr(prompt).encode("utf-8", "surrogatepass"))
    path = cache_dir() / "prompt_lengths" / f"{digest.hexdigest()[:32]}.json"
    if (lengths := _read(path, len(prompts))) is None:
        lengths = measure()
        _write(path, lengths)
    return lengths


def _read(path: Path, count: int) -> list[int] | None:
    """The `count` cached lengths; None if the file is missing or invalid."""
    try:
        lengths: list[int] = parse_json(path.read_bytes(), path)
    except (OSError, ValueError):
        return None
    return lengths if isinstance(lengths, list) and len(lengths) == count else None


def _write(path: Path, lengths: list[int]) -> None:
    with suppress(JudgeError):  # a run works without the cache
        write_atomic(path, [json.dumps(lengths)])
