"""Checks texts that come from outside."""

from judge_r1.core.errors import JudgeError


class BadText(JudgeError, ValueError):
    """A text is not valid Unicode."""


def check_unicode(text: str, name: str) -> str:
    """Returns `text`. `name` says in the message what it is.

    Raises:
        BadText: The text holds half of a surrogate pair, which no tokenizer, file or endpoint can encode.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadText(
            f"{name} is not valid Unicode: character {error.start} is U+{ord(text[error.start]):04X}, half of a "
            "surrogate pair; remove it, or read the text as UTF-8"
        ) from None
    return text
