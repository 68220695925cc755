"""Wraps a Hugging Face tokenizer so that untrusted text cannot produce control tokens.

Trusted text (instructions, chat template) is encoded as usual. Untrusted text (cases, reasonings, passages) is encoded
by the same tokenizer without its added tokens, so that no added or special token can appear.

Some tokenizers (Llama 2, Mistral v0.1) put a space before a text that they encode. Prompts and answers are encoded in
pieces, so only the first piece of a prompt gets it.
"""

import hashlib
import json
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tags import TAG
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.strict_json import parse_json
from judge_r1.models.base import decodes_directly, text_decoder
from retrieval.weights_cache import cache_dir

_CACHED_PROMPTS, _CACHED_TEXTS = 128, 512
TODAY = datetime(2024, 7, 26)
_DATE = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")
"""The date for chat templates that write today's (Llama 3.2, gpt-oss), so that a prompt is the same every day. Llama
3.2's template writes it where there is no clock."""
_ANCHOR = "\n"


class Unencodable(JudgeError):
    """The tokenizer cannot encode a text without one of its control tokens."""


class SafeTokenizer:
    """Encodes prompts and observations, decodes sampled ids. `hf_tokenizer` is a fast Hugging Face tokenizer."""

    def __init__(self, hf_tokenizer: Any) -> None:
        self.hf = hf_tokenizer
        self.added: frozenset[int] = frozenset(hf_tokenizer.added_tokens_decoder)
        self.control = frozenset(number for number, token in hf_tokenizer.added_tokens_decoder.items() if token.special)
        self._plain, prefixed = _without_added_tokens(hf_tokenizer)
        self._anchor: list[int] = hf_tokenizer.encode(_ANCHOR, add_special_tokens=False) if prefixed else []
        """Stands before a text that no space may be put before."""
        self._decode = text_decoder(hf_tokenizer)
        self.bytewise = decodes_directly(hf_tokenizer) and _decodes_bytes(hf_tokenizer.backend_tokenizer)
        self._single: dict[int, str] = {}
        """Texts of single ids: an episode decodes each token alone once."""
        self._trusted: dict[tuple[str, bool], tuple[int, ...]] = {}
        """Ids of tags, frames and notices, which every episode encodes again."""
        self._encoded: OrderedDict[tuple[Prompt, bool], tuple[int, ...]] = OrderedDict()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the tokenizer, its chat template, and the date if the template writes one."""
        described = self.hf.backend_tokenizer.to_str() + str(self.hf.chat_template)
        if "strftime_now" in str(self.hf.chat_template):
            described += TODAY.isoformat()
        return hashlib.sha256(described.encode()).hexdigest()

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, with special tokens and without clean-up."""
        if len(ids) != 1:
            return self._decode(ids)
        if (text := self._single.get(ids[0])) is None:
            text = self._single[ids[0]] = self._decode(ids)
        return text

    def encode_trusted(self, text: str, *, first: bool = False) -> list[int]:
        """Ids of trusted text, in which tags and control tokens have their meaning. `first`: nothing is before it."""
        key = text, first
        if (ids := self._trusted.get(key)) is None:
            if len(self._trusted) >= _CACHED_TEXTS:
                self._trusted.clear()
            ids = self._trusted[key] = tuple(token for token, _ in self._located(text, first))
        return list(ids)

    def trusted_spans(self, text: str, *, first: bool = False) -> list[tuple[int, int]]:
        """The span `[start, end)` in `text` of each id of `encode_trusted(text)`."""
        return [span for _, span in self._located(text, first)]

    def _located(self, text: str, first: bool) -> list[tuple[int, tuple[int, int]]]:
        anchor = [] if first or not text else self._anchor
        encoding = self.hf(f"{_ANCHOR if anchor else ''}{text}", add_special_tokens=False, return_offsets_mapping=True)
        ids, spans = encoding["input_ids"], encoding["offset_mapping"]
        if ids[: len(anchor)] != anchor:
            raise Unencodable(f"the tokenizer joins the line break before {text[:40]!r} with it")
        moved = len(_ANCHOR) if anchor else 0
        located = list(zip(ids, spans, strict=True))[len(anchor) :]
        return [(token, (max(0, start - moved), end - moved)) for token, (start, end) in located]

    def encode_untrusted(self, text: str) -> list[int]:
        """Ids of untrusted text. None of them is an added token of the tokenizer.

        Raises:
            Unencodable: The vocabulary has no other token for a part of the text.
        """
        [encoding] = self._plain.encode_batch([text], add_special_tokens=False)  # unlike encode, it releases the GIL
        if self.added.isdisjoint(encoding.ids):
            return list(encoding.ids)
        # The plain vocabulary contains a control token as a word: split the text inside each of them.
        cuts = [0]
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            if token in self.added:
                if end - start < 2:  # a token of one character has no inside
                    raise Unencodable(f"the tokenizer can encode {text[start:end]!r} only as a control token")
                cuts.append((start + end) // 2)
        pieces = [text[start:end] for start, end in pairwise([*cuts, len(text)])]
        return [token for piece in pieces for token in self.encode_untrusted(piece)]

    def encode_policy_text(self, text: str) -> list[int]:
        """Ids of text of the assistant: tags are trusted, the text between them is not."""
        ids: list[int] = []
        for piece in TAG.split(text):
            if piece:
                ids += self.encode_trusted(piece) if TAG.fullmatch(piece) else self.encode_untrusted(piece)
        return ids

    def prompt_ids(self, prompt: Prompt, *, thinking: bool = False) -> list[int]:
        """The prompt in the model's chat template, with the start of the assistant's turn.

        The template renders placeholders for the inserted texts. The text between placeholders is trusted.

        Raises:
            JudgeError: The instructions contain a control token of the tokenizer.
        """
        key = prompt, thinking
        if (cached := self._encoded.get(key)) is None:
            self._check_instructions(prompt)
            # Piece by piece: encoded together, trusted and untrusted text may merge into one token at their border.
            ids: list[int] = []
            for text, inserted in prompt.pieces(self.rendered(prompt, thinking=thinking)):
                ids += self.encode_untrusted(text) if inserted else self.encode_trusted(text, first=not ids)
            cached = self._encoded[key] = tuple(ids)  # the episodes of a group have one prompt
            while len(self._encoded) > _CACHED_PROMPTS:
                self._encoded.popitem(last=False)
        return list(cached)

    def _check_instructions(self, prompt: Prompt) -> None:
        """The chat template alone writes control tokens."""
        for message in prompt.turns:
            if found := self.control.intersection(self.encode_trusted(message.marked)):
                names = ", ".join(repr(self.hf.convert_ids_to_tokens(number)) for number in sorted(found))
                raise JudgeError(
                    f"the {message.role} message of a prompt contains the control token {names}: remove it"
                )

    def rendered(self, prompt: Prompt, *, thinking: bool = False) -> str:
        """The prompt in the model's chat template, with placeholders for the inserted texts."""
        messages = [{"role": m.role, "content": m.marked} for m in prompt.turns]
        try:
            return self._render(messages, thinking)
        except JudgeError:  # a template without a system role: put its text before the user message
            content = "\n\n".join(message["content"] for message in messages)
            return self._render([{"role": "user", "content": content}], thinking)

    def _render(self, messages: list[dict[str, str]], thinking: bool) -> str:
        from jinja2 import TemplateError

        # In the template, as transformers from 5.24 on hands no function to it.
        dated, dates = _DATE.subn(lambda call: json.dumps(TODAY.strftime(call[2])), str(self.hf.chat_template))
        fixed = {"chat_template": dated} if dates else {}
        try:
            text: str = self.hf.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, enable_thinking=thinking,
                strftime_now=TODAY.strftime, **fixed,
            )  # fmt: skip
        except TemplateError as error:
            raise JudgeError(f"the tokenizer's chat template cannot render a prompt: {error}") from None
        # Templates may strip a message. Another change would hide text from the model or move the placeholders.
        if any(message["content"].strip() not in text for message in messages):
            raise JudgeError("the tokenizer's chat template drops or changes the text of a message")
        return text


def _decodes_bytes(backend: Any) -> bool:
    """Whether the decoder is ByteLevel alone (GPT-2, Qwen, Llama 3): it joins the bytes of all tokens, added ones
    included, and then decodes UTF-8. Other decoders place spaces or join bytes by their neighbours."""
    from tokenizers.decoders import ByteLevel

    return isinstance(backend.decoder, ByteLevel)


def _without_added_tokens(tokenizer: Any) -> tuple[Any, bool]:
    """The tokenizer's model and pre-tokenizer as a `tokenizers.Tokenizer` without added tokens, and without the space
    that it puts before a text; and whether it puts one there."""
    from tokenizers import Tokenizer, models

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise JudgeError("this tokenizer has no fast version: judge_r1 needs one (tokenizer.json)")
    parts = Tokenizer(models.BPE())  # without the vocabulary, which takes long to write and read
    parts.normalizer, parts.pre_tokenizer = backend.normalizer, backend.pre_tokenizer
    state = json.loads(parts.to_str())
    if prefixed := _drop_prefix(state):
        parts = Tokenizer.from_str(json.dumps(state))
    # The post-processor goes, too: it adds special tokens such as the beginning of a text.
    plain = Tokenizer(backend.model)
    plain.normalizer, plain.pre_tokenizer, plain.decoder = parts.normalizer, parts.pre_tokenizer, backend.decoder
    return plain, prefixed


def _drop_prefix(state: dict[str, Any]) -> bool:
    """Changes the state of a SentencePiece tokenizer so that it puts no space before a text. Returns whether it put one
    there. Byte-level tokenizers keep theirs: no chat model has one, and the tiny model is trained with it."""
    found = False
    for name, inner in (("normalizer", "normalizers"), ("pre_tokenizer", "pretokenizers")):
        part = state[name] or {}
        steps = part[inner] if part.get("type") == "Sequence" else [part]
        for step in steps:
            if step.get("type") == "Metaspace" and step.get("prepend_scheme", "always") != "never":
                step["prepend_scheme"], found = "never", True
        kept = [step for step in steps if step.get("type") != "Prepend"]
        if len(kept) < len(steps):
            state[name], found = {"type": "Sequence", inner: kept} if kept else None, True
    return found


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
