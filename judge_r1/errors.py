"""One base for every error a user can cause: the CLI prints its sentence and exits with 2, never a traceback."""


class JudgeError(Exception):
    """Bad input or an impossible request; the message says what, where, and what to do."""
