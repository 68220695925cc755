"""Articles of the European Convention on Human Rights in PILOT's notation: `6`, and `P1-1` for a protocol.

Two entries of the published ECHR.json (18 and P4-7) hold another text and are left out.
"""

import re
from pathlib import Path

from data_builders.sources.corpus_io import clean, read_json, take

ARTICLES = "ECHR.json"
WRONG = {"18": "Derogation in time of emergency", "P4-7": "Signature and ratification"}
_ARTICLE = re.compile(r"[1-9]\d?|P(?P<protocol>\d{1,2})-(?P<number>\d{1,2})")
_NAMED = re.compile(
    r"\b(?:Articles?|Arts?\.)\s+((?:\d+(?:\s*§+\s*\d+)?[a-z]?(?:\s*\(\w+\))*(?:\s*(?:,|and|or|&|to)\s*)?)+)"
    r"(\s+(?:of|to)\s+(?:the\s+)?Protocol(?:\s+No\.?)?\s*(\d+))?",
    re.I,
)


def load_articles(file: Path) -> dict[str, str]:
    """Title and text of each article of ECHR.json, without the entries known to be wrong."""
    contents = take(read_json(file), "contents", dict, str(file))
    articles = {}
    for article, entry in contents.items():
        title, text = (clean(take(entry, key, str, f"{file}, article {article}")) for key in ("title", "text"))
        if WRONG.get(article) != title:
            articles[str(article)] = f"{title}\n{text}"
    return articles


def named_articles(text: str) -> set[str]:
    """The articles that a text names, in PILOT's notation: `P1-1` is Article 1 of Protocol No. 1."""
    named = set()
    for match in _NAMED.finditer(text):
        prefix = f"P{match[3]}-" if match[3] else ""
        bare = re.sub(r"§+\s*\d+|\(\w+\)", "", match[1])
        named |= {f"{prefix}{number}" for number in re.findall(r"\d+", bare)}
    return named


def article_name(article: str) -> str:
    match = _ARTICLE.fullmatch(article)
    if match and match["protocol"]:
        return f"Article {match['number']} of Protocol No. {match['protocol']}"
    return f"Article {article}"


def without_articles(text: str) -> str:
    """The text without its references to articles, whose numbers are not quantities."""
    return _NAMED.sub("", text)


def article_order(article: str) -> tuple[bool, list[int], str]:
    """A sort key: the convention's articles by number, then those of the protocols."""
    return article.startswith("P"), [int(number) for number in re.findall(r"\d+", article)], article
