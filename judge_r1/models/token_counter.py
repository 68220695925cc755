"""Counts the tokens of texts with a tokenizer by name: a model's, without transformers where that changes nothing, or
one of tiktoken (`tiktoken:cl100k_base`)."""

from collections.abc import Callable

from judge_r1.core.errors import JudgeError

TIKTOKEN = "tiktoken:"


def token_counter(name: str) -> Callable[[str], int]:
    """The number of tokens of a text; special tokens in it count as text.

    Raises:
        JudgeError: tiktoken is not installed or its file of the encoding is neither cached nor reachable.
        ModelUnavailable: The model's tokenizer cannot be loaded.
    """
    if name.startswith(TIKTOKEN):
        try:
            import tiktoken

            encoding = tiktoken.get_encoding(name.removeprefix(TIKTOKEN))
        except ImportError:
            raise JudgeError(f"{name} needs tiktoken: pip install tiktoken") from None
        except (ValueError, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise JudgeError(f"{name} cannot be loaded ({reason}): TIKTOKEN_CACHE_DIR may hold its file") from None
        return lambda text: len(encoding.encode(text, disallowed_special=()))
    from judge_r1.models.hub import text_tokenizer

    tokenizer = text_tokenizer(name)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))
