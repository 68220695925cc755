"""What an episode shows the judge after a turn: passages or a notice, in `<information>` tags."""

from collections.abc import Sequence
from typing import Protocol

from judge_r1.episode.tags import escape_tags

NOTHING_FOUND = "nothing found"
"""No passage of the case has a term of the query. Only BM25 can tell: embeddings always have a nearest passage."""
NOTHING_FITS = "no passage fits here"


class EpisodeTokenizer(Protocol):
    """What an episode uses of a tokenizer (`judge_r1.episode.tokenizer.SafeTokenizer`)."""

    @property
    def bytewise(self) -> bool:
        """Whether each id stands for fixed bytes: the text of ids is that of all their bytes."""

    def decode(self, ids: Sequence[int]) -> str: ...
    def encode_trusted(self, text: str) -> list[int]: ...
    def encode_untrusted(self, text: str) -> list[int]: ...


def render(tokenizer: EpisodeTokenizer, passages: Sequence[str], notice: str) -> tuple[list[int], str]:
    """An observation as ids and as text. The frame is trusted, the passages are not."""
    ids: list[int] = tokenizer.encode_trusted("<information>")
    text = "<information>"
    for number, passage in enumerate(passages, 1):
        head, body = f"\n[{number}]", " " + escape_tags(passage)
        ids += tokenizer.encode_trusted(head) + tokenizer.encode_untrusted(body)
        text += head + body
    tail = f"\n({notice})</information>"
    return ids + tokenizer.encode_trusted(tail), text + tail


def query_too_long(longest: int, left: int) -> str:
    """The notice after a query of more words than `Budget.query_words`."""
    return f"the query has more than {longest} word{'s' * (longest > 1)}; {left} searches left"


def no_action_notice(left: int) -> str:
    """The notice after a turn that neither searched nor answered."""
    return (
        "no action found: write a query between <search> and </search>, or the judgment between <answer> and "
        f"</answer>; {left} searches left"
    )
