"""Every error that a caller of this room can cause has one base; each message says what is wrong, where, what to do."""


class RetrievalError(ValueError):
    """Base of the room's errors."""


class UnknownCase(RetrievalError):
    """A search names a case that the retriever was not given."""


class EmptyCase(RetrievalError):
    """A case has no text to search in."""


class EmptyQuery(RetrievalError):
    """A query is empty or blank; what to do about it is the caller's decision."""


class InvalidSize(RetrievalError):
    """A size (k, words of a passage, number of cases) is below 1."""


class EmbedderUnavailable(RetrievalError):
    """An embedding model cannot be loaded; the message holds the command that helps."""


class BadVectors(RetrievalError):
    """An embedder returned vectors of another shape than asked for, or not of length 1."""


def at_least_one(name: str, value: int) -> int:
    """`value`, if it is 1 or more."""
    if value < 1:
        raise InvalidSize(f"{name} must be at least 1, not {value}")
    return value
