"""One base for every error a user can cause: the CLI prints its sentence and exits with 2, never a traceback."""

TRY_AGAIN = 75
"""Exit status of what may go well another time (EX_TEMPFAIL of sysexits.h): a node that is gone, a machine not there
yet. A launched job tries such a run again, and no other."""


class JudgeError(Exception):
    """Bad input or an impossible request; the message says what, where, and what to do."""

    exit_status = 2
