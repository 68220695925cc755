"""Memories and documents as one text that the retriever of a case indexes: every line says which document it is of."""

from collections.abc import Sequence
from typing import Literal

from judge_r1.core.memory import DocumentMemory
from judge_r1.judges.memo.report import NOT_GIVEN
from judge_r1.judges.memo.scanner import Section
from retrieval.prose import prose_sentences
from retrieval.words import count_words

Index = Literal["both", "notes", "document"]
LEGEND = (
    "Lines that start with [{name} 3] are sentences of section 3 of this document; [{name} 3 note] is a note on that "
    "section, with a metric, a tag and a score."
)


def note_lines(name: str, memory: DocumentMemory) -> list[str]:
    """One line for each issue of each section, and one for its scores; `name` is that of the document."""
    lines = []
    for section in memory.sections:
        head = f"[{name} {section.number} note]"
        for metric, by_tag in section.issues.items():
            lines += [f"{head} {metric} {tag} {text}" for tag, found in by_tag.items() for text in found]
        scores = (f"{metric} {NOT_GIVEN if score is None else score}" for metric, score in section.scores.items())
        lines.append(f"{head} scores: {', '.join(scores)}")
    return [" ".join(line.split()) for line in lines]


def document_lines(name: str, sections: Sequence[Section]) -> list[str]:
    """One line for each sentence."""
    return [
        f"[{name} {section.number}] {' '.join(section.text[start:end].split())}"
        for section in sections
        for start, end in prose_sentences(section.text)
    ]


def searchable_text(
    index: Index, names: Sequence[str], memories: Sequence[DocumentMemory | None], sections: Sequence[Sequence[Section]]
) -> str:
    """The text to index for several candidates. Notes come first, those of one document after the other."""
    lines: list[str] = []
    if index != "document":
        lines += [
            line for name, memory in zip(names, memories, strict=True) if memory for line in note_lines(name, memory)
        ]
    if index != "notes":
        lines += [line for name, own in zip(names, sections, strict=True) for line in document_lines(name, own)]
    return "\n".join(lines)


def stand_in(name: str, sections: Sequence[Section], index: Index) -> str:
    """What the judge is shown in the place of a candidate."""
    words = sum(count_words(section.text) for section in sections)
    kinds = {"both": "Its text and notes on it", "notes": "Notes on it", "document": "Its text"}[index]
    return (
        f"(Document {name}: {words} words in {len(sections)} sections. {kinds} can be searched; nothing of it is shown "
        f"here. {LEGEND.format(name=name)})"
    )
