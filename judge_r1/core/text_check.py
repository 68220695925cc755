"""Checks texts that come from outside."""

import re
from reprlib import repr

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import DOMAIN


class BadText(JudgeError, ValueError):
    """A value is not a valid text, or not the name of a domain."""


def check_unicode(text: str, name: str) -> str:
    """Returns `text`. `name` says in the message what it is.

    Raises:
        BadText: It is no text, or it holds half of a surrogate pair, which no tokenizer, file or endpoint can encode.
    """
    if not isinstance(text, str):
        raise BadText(f"{name} must be a text, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadText(
            f"{name} is not valid Unicode: character {error.start} is U+{ord(text[error.start]):04X}, half of a "
            "surrogate pair; remove it, or read the text as UTF-8"
        ) from None
    return text


def check_domain(domain: str) -> None:
    """Checks the name of a domain, which is part of the trusted text of prompts. Raises BadText."""
    if not isinstance(domain, str) or not re.fullmatch(DOMAIN, domain) or domain.endswith("\n"):
        raise BadText(
            f"domain must be a lower-case name of letters, digits, spaces, _ and -, such as legal, not {repr(domain)}"
        )
