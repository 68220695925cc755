"""Errors of retrieval. All share one base; each message says what is wrong, where, and what to do."""


class RetrievalError(ValueError):
    """Base of all retrieval errors."""


class UnknownCase(RetrievalError):
    """A search names a case that the retriever does not know."""


class EmptyCase(RetrievalError):
    """A case has no text to search in."""


class EmptyQuery(RetrievalError):
    """A query is empty or blank."""


class InvalidText(RetrievalError):
    """A query or a case is not valid Unicode: it holds half of a surrogate pair."""


class InvalidSize(RetrievalError):
    """A size (k, words per passage, number of cases) is below 1."""


class EmbedderUnavailable(RetrievalError):
    """An embedding model cannot be loaded; the message names the command that installs it."""


class BadVectors(RetrievalError):
    """An embedder returned vectors of the wrong shape, or vectors that are not of length 1."""


class QueueFull(RetrievalError):
    """Too many searches wait at a server. Try again later."""


class SearchTimeout(RetrievalError):
    """A search got no answer in time."""


class ServerClosing(RetrievalError):
    """A server that is closing refuses a search. Send it again: another one may answer at the same address."""


class ServerUnavailable(RetrievalError):
    """A retrieval server cannot be reached, or its answer is not one to the request."""


def at_least_one(name: str, value: int) -> int:
    """Returns `value` if it is at least 1, else raises `InvalidSize`."""
    if value < 1:
        raise InvalidSize(f"{name} must be at least 1, not {value}")
    return value


def check_unicode(text: str, name: str) -> str:
    """Returns `text` if UTF-8 can encode it, else raises `InvalidText`. `name` says in the message what it is."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"{name} is not valid Unicode: character {error.start} is U+{ord(text[error.start]):04X}, half of a "
            "surrogate pair; remove it, or read the text as UTF-8"
        ) from None
    return text
