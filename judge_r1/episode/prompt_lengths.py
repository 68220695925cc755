"""Caches the prompt lengths of a data set on disk, so that later starts of a training do not encode it again."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from retrieval.weights_cache import cache_dir


def stored_lengths(
    prompts: Sequence[Prompt], tokenizer: SafeTokenizer, *, thinking: bool, measure: Callable[[], list[int]]
) -> list[int]:
    """Tokens of each prompt. Calls `measure` if the cache has no lengths for exactly these prompts, tokenizer and chat
    template."""
    digest = hashlib.sha256(f"{tokenizer.fingerprint} {thinking}".encode())
    for prompt in prompts:
        digest.update(repr(prompt).encode("utf-8", "surrogatepass"))
    path = cache_dir() / "prompt_lengths" / f"{digest.hexdigest()[:32]}.json"
    if (lengths := _read(path, len(prompts))) is None:
        lengths = measure()
        _write(path, lengths)
    return lengths


def _read(path: Path, count: int) -> list[int] | None:
    try:
        lengths: list[int] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return lengths if isinstance(lengths, list) and len(lengths) == count else None


def _write(path: Path, lengths: list[int]) -> None:
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(lengths))
        temporary.replace(path)
    except OSError:  # the cache is optional
        temporary.unlink(missing_ok=True)
