"""What can be wrong with a corpus on disk."""

from judge_r1.core.errors import JudgeError


class SourceError(JudgeError):
    """A corpus is not where `path` says, or a file of it is not what its format promises; names file and field."""
