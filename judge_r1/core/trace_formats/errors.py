"""The error of a file that is not a trace that can be read."""

from judge_r1.core.errors import JudgeError


class BadTrace(JudgeError):
    """A file is not a trace that can be read. The message says what was seen, and what to do."""
