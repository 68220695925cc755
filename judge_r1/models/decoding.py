"""Decodes token ids with a Hugging Face tokenizer."""

from collections.abc import Callable, Sequence
from typing import Any


def text_decoder(tokenizer: Any) -> Callable[[Sequence[int]], str]:
    """A function that returns the text of ids, with special tokens and without clean-up."""
    if decodes_directly(tokenizer):
        backend = tokenizer.backend_tokenizer
        return lambda ids: str(backend.decode(list(ids), skip_special_tokens=False))
    return lambda ids: str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def decodes_directly(tokenizer: Any) -> bool:
    """Whether `decode` does nothing but call the tokenizers library: it is the usual one of transformers. Its checks of
    the arguments take several times as long as the decoding."""
    places = ("decode", "tokenization_utils_base"), ("_decode", "tokenization_utils_tokenizers")
    return all(
        getattr(getattr(type(tokenizer), name, None), "__module__", "") == f"transformers.{module}"
        for name, module in places
    )
