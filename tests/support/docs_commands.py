"""The commands of the README, and those of the first example of a docs page."""

import re

from paths import REPO

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = sorted(path.name for path in (REPO / "docs").glob("*.md"))


def examples(page: str) -> list[tuple[str, str]]:
    """(language, text) of the code blocks with commands or Python: all of the README, the first one of a docs page."""
    path = REPO / page if page == "README.md" else REPO / "docs" / page
    blocks = [(head.split(" ")[0], text) for head, text in BLOCK.findall(path.read_text(encoding="utf-8"))]
    if page == "README.md":
        return blocks
    return [(head, text) for head, text in blocks if head in ("bash", "python")][:1]


def commands(page: str) -> list[str]:
    """The commands in the order of the page, without comments; a block of Python is one command."""
    found = []
    for language, text in examples(page):
        if language == "python":
            found.append(text)
            continue
        for line in text.replace("\\\n", " ").splitlines():
            if command := " ".join(re.sub(r"(^|\s)#\s.*$", "", line).split()):
                found.append(command)
    return found
