"""Reads text files, and prompt templates of the user: texts with `$name` fields, checked before anything is asked."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from judge_r1.core.errors import JudgeError, read_error
from judge_r1.core.registry import suggest


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises: JudgeError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise read_error(path, error) from None


def read_text(path: Path) -> str:
    """The text of a file in UTF-8. Raises: JudgeError if it cannot be read, or is in another encoding."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise read_error(path, error) from None
    except UnicodeDecodeError:
        raise JudgeError(f"{path} cannot be read: it is not in UTF-8") from None


def read_template(file: Path, known: Sequence[str], needed: Iterable[Sequence[str]]) -> Template:
    """The template in a file. It may use the fields `known`, and has one or more of each group of `needed`.

    Raises:
        JudgeError: The file cannot be read, or has an unknown or missing field.
    """
    template = Template(read_text(file).strip("\n"))
    used = set[str]()
    for match in template.pattern.finditer(template.template):
        if match["invalid"] is not None:
            raise JudgeError(f"{file}: a $ stands without the name of a field: write $$ for the sign itself")
        used.add(match["named"] or match["braced"] or "")
    for name in sorted(used - {""}):  # "" is an escaped $
        if name not in known:
            raise JudgeError(f"{file}: no field is named ${name}{suggest(name, known)}")
    for group in needed:
        if used.isdisjoint(group):
            raise JudgeError(f"{file} has no field {' or '.join(f'${name}' for name in group)}: add it")
    return template
