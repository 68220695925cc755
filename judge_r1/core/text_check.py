"""Checks texts that come from outside."""

import re
from collections.abc import Iterable, Mapping
from reprlib import repr
from unicodedata import normalize

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import DOMAIN
from retrieval import errors

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters except line feeds, separators of lines, and marks that change the direction of text."""


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
        return errors.check_unicode(text, name)
    except errors.InvalidText as error:
        raise BadText(str(error)) from None


def valid_utf8(text: str) -> str:
    """Replaces lone surrogates, which JSON can escape and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def check_domain(domain: str) -> None:
    """Checks the name of a domain, which is part of the trusted text of prompts. Raises BadText."""
    if not isinstance(domain, str) or not re.fullmatch(DOMAIN, domain) or domain.endswith("\n"):
        raise BadText(
            f"domain must be a lower-case name of letters, digits, spaces, _ and -, such as legal, not {repr(domain)}"
        )


def check_spelling(names: Iterable[str], kind: str) -> None:
    """Checks that no two different names look alike: they differ in white space alone, or in characters that are not
    seen, such as an accent in two code points. `kind` is their plural. Raises BadText."""
    spelled: dict[str, str] = {}
    for name in names:
        seen = "".join(letter for letter in normalize("NFC", name) if letter.isprintable() or letter.isspace())
        first = spelled.setdefault(" ".join(seen.split()), name)
        if first != name:
            in_space = first.split() == name.split()
            where, shown = ("white space", repr) if in_space else ("unseen characters", ascii)
            raise BadText(
                f"the {kind} {shown(first[:80])} and {shown(name[:80])} differ in {where} alone: give them one name, "
                "or different ones"
            )


def printable(text: str) -> str:
    """The text with control characters as escapes (`\\x1b`): printed as they are, they could command a terminal."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text.replace("\t", " "))


def counted(count: int, noun: str) -> str:
    """A count with its noun, such as `1 search` and `2 searches`."""
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith(('ch', 'ss')) else 's'}"


def reasons(counts: Mapping[str, int]) -> str:
    """How often each reason counts, in words, the most frequent first; `none` without one."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{reason} ({count})" for reason, count in ordered) or "none"


def are(count: int) -> str:
    """The verb of a count: `is` of one, else `are`."""
    return "is" if count == 1 else "are"


def beginning(text: str, length: int) -> str:
    """The text; of a longer one `length` characters, and the number of those left out."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def short_name(name: str, length: int = 80) -> str:
    """The beginning of a name from a file, as one printable line for a message."""
    shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in name[:length])
    return shown + "…" * (len(name) > length)
