"""The base class of errors that a user can cause. The CLI prints their message without a traceback and exits with 2."""

TRY_AGAIN = 75
"""Exit status of temporary failures (EX_TEMPFAIL of sysexits.h), such as a lost node. A launched job retries a run with
this status only."""


class JudgeError(Exception):
    """Invalid input or an impossible request. The message says what is wrong, where, and what to do."""

    exit_status = 2
