"""Between text and ids, without forgery: a `Codec` wraps a Hugging Face tokenizer.

Text of ours (instructions, chat template) is encoded as it is. Text of others is encoded by the same model with its
added tokens taken out, so that no added or special token can appear whatever the text says.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from jinja2 import TemplateError

from judge_r1.core.errors import JudgeError
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tags import TAG

_CACHED_PROMPTS = 128


class Unencodable(JudgeError):
    """A text that this tokenizer cannot spell without one of its own control tokens."""


class SafeTokenizer:
    """Encode prompts and observations, decode sampled ids. `tokenizer` is a fast Hugging Face tokenizer."""

    def __init__(self, hf_tokenizer: Any) -> None:
        self.hf = hf_tokenizer
        self.added: frozenset[int] = frozenset(hf_tokenizer.added_tokens_decoder)
        self._plain = _without_added_tokens(hf_tokenizer)
        self._encoded: OrderedDict[tuple[Prompt, bool], tuple[int, ...]] = OrderedDict()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the tokenizer and its chat template."""
        described = self.hf.backend_tokenizer.to_str() + str(self.hf.chat_template)
        return hashlib.sha256(described.encode()).hexdigest()

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids as sampled: nothing skipped, nothing cleaned up."""
        text: str = self.hf.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def encode_trusted(self, text: str) -> list[int]:
        """Ids of text of ours, in which tags and template marks are meant."""
        ids: list[int] = self.hf.encode(text, add_special_tokens=False)
        return ids

    def trusted_spans(self, text: str) -> list[tuple[int, int]]:
        """For each id of `encode_trusted(text)` the characters `[start, end)` of the text that it spells."""
        encoding = self.hf(text, add_special_tokens=False, return_offsets_mapping=True)
        return [(start, end) for start, end in encoding["offset_mapping"]]

    def encode_untrusted(self, text: str) -> list[int]:
        """Ids of text of others: none of them is an added token of the tokenizer."""
        [encoding] = self._plain.encode_batch([text], add_special_tokens=False)  # lets other threads run, unlike encode
        if self.added.isdisjoint(encoding.ids):
            return list(encoding.ids)
        # The vocabulary itself spells a control token as one word: encode the halves of each of them apart.
        cuts = [0]
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            if token in self.added:
                if end - start < 2:
                    raise Unencodable(f"the tokenizer has no spelling of {text[start:end]!r} but a control token")
                cuts.append((start + end) // 2)
        pieces = [text[start:end] for start, end in pairwise([*cuts, len(text)])]
        return [token for piece in pieces for token in self.encode_untrusted(piece)]

    def encode_policy_text(self, text: str) -> list[int]:
        """Ids of text that the assistant writes: our tags are meant, everything between them is inserted."""
        ids: list[int] = []
        for piece in TAG.split(text):
            if piece:
                ids += self.encode_trusted(piece) if TAG.fullmatch(piece) else self.encode_untrusted(piece)
        return ids

    def prompt_ids(self, prompt: Prompt, *, thinking: bool = False) -> list[int]:
        """The prompt through the model's chat template, up to where the assistant begins to write.

        The template sees marks where inserted text stands; the text between the marks is trusted, the rest is not.
        """
        key = prompt, thinking
        if (known := self._encoded.get(key)) is None:
            ids: list[int] = []
            for text, inserted in prompt.pieces(self.rendered(prompt, thinking=thinking)):
                ids += self.encode_untrusted(text) if inserted else self.encode_trusted(text)
            known = self._encoded[key] = tuple(ids)  # the episodes of a group have one prompt
            while len(self._encoded) > _CACHED_PROMPTS:
                self._encoded.popitem(last=False)
        return list(known)

    def rendered(self, prompt: Prompt, *, thinking: bool = False) -> str:
        """The prompt in the model's chat template, with its marks."""
        messages = [{"role": m.role, "content": m.marked} for m in prompt.messages]
        try:
            return self._render(messages, thinking)
        except JudgeError:  # a template without a system role: its text goes to the head of the user's message
            whole = "\n\n".join(message["content"] for message in messages)
            return self._render([{"role": "user", "content": whole}], thinking)

    def _render(self, messages: list[dict[str, str]], thinking: bool) -> str:
        try:
            text: str = self.hf.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, enable_thinking=thinking
            )
        except TemplateError as error:
            raise JudgeError(f"the tokenizer's chat template cannot render a prompt: {error}") from None
        if any(message["content"].strip() not in text for message in messages):
            raise JudgeError("the tokenizer's chat template leaves out or changes what a message says")
        return text


def _without_added_tokens(tokenizer: Any) -> Any:
    """The tokenizer's own model and pre-tokenizer as a `tokenizers.Tokenizer` that knows no added tokens."""
    from tokenizers import Tokenizer

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise JudgeError("this tokenizer has no fast version: judge_r1 needs one (a tokenizer.json)")
    state = json.loads(backend.to_str())
    state["added_tokens"], state["post_processor"] = [], None
    state["padding"], state["truncation"] = None, None
    return Tokenizer.from_str(json.dumps(state))
