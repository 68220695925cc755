"""Reads text files."""

from pathlib import Path

from judge_r1.core.errors import JudgeError, read_error


def read_text(path: Path) -> str:
    """The text of a file in UTF-8. Raises: JudgeError if it cannot be read, or is in another encoding."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise read_error(path, error) from None
    except UnicodeDecodeError:
        raise JudgeError(f"{path} cannot be read: it is not in UTF-8") from None
