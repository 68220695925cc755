"""PILOT's ECHR2023: facts of ECHR judgments with the articles found violated (domain `legal`; NAACL 2024).

`path` is the folder `data/ECHR2023` of the authors' repository: cases as JSON Lines, and ECHR.json with the articles.
The context is the facts and every article, because the violated ones alone would reveal the decision, the violation
found. A teacher writes the reference from the facts and the violated articles, as in LRBench (appendix B); `check` says
what is accepted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from data_builders.prompts import completion_prompt
from data_builders.sources import SOURCES, Draft, taught
from data_builders.sources.corpus_io import CorpusRow, SourceError, clean, read_json, take, words
from data_builders.sources.teacher_completion import Problem, complete
from data_builders.sources.text_grounding import missing_numbers, quotations, quoted_from
from data_builders.sources.text_repair import Changes, changes_as_meta, repaired
from data_builders.teachers import Attempts, Teacher, TeacherRequest
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case
from judge_r1.files.tabular import file_rows

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


NAME, FOLDER = "pilot", Path("data/ECHR2023")
LICENSE = "none stated (PILOT, github.com/windszzlang/Legal-AI-PILOT); judgment text: Council of Europe, HUDOC"
STEPS, WORDS, QUOTES = (6, 14), (180, 700), 2
_STEP = re.compile(r"(\d{1,2})\. \S")


@dataclass(frozen=True)
class EchrCase:
    """A case of the corpus: the material of the reasoning, and the violated articles that it must conclude. `changes`
    counts the repairs of the facts."""

    row: CorpusRow
    facts: str
    articles: Mapping[str, str]
    violated: tuple[str, ...]
    changes: Changes = field(default_factory=Changes)


def drafts(path: Path | None, skipped: Counter[str]) -> Iterator[Draft]:
    """A draft for each case with facts and a violation, by file and line."""
    folder = _folder(path)
    articles = load_articles(folder / ARTICLES)
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise SourceError(f"{folder} holds no cases: expected train.jsonl, dev.jsonl or test.jsonl")
    for row in (CorpusRow.of(row) for file in files for row in file_rows(file)):
        violated, changes = _violated(row), Changes()
        facts = repaired(row.text("facts"), changes)
        if not facts:
            skipped[f"{NAME}: no facts"] += 1
        elif not violated:
            skipped[f"{NAME}: no violated article"] += 1
        elif any(article not in articles for article in violated):
            skipped[f"{NAME}: an article of which the corpus has no right text"] += 1
        else:
            yield _draft(EchrCase(row, facts, articles, violated, changes))


def _draft(case: EchrCase) -> Draft:
    async def draft(teacher: Teacher, skipped: Counter[str], tried: Attempts) -> Case | None:
        request = reference_request(case)
        reference = await complete(NAME, teacher, request, lambda text: check(text, case), skipped, tried)
        if reference is None:
            return None
        row, case_id = case.row, case.row.label("case_id")
        facts = f"{row.text('title')}\n\nFacts\n\n{case.facts}".strip()
        return Case.of(
            domain="legal",
            context=f"{facts}\n\nArticles of the Convention and its protocols\n\n{statutes(case)}",
            decision=f"Violation of {', '.join(map(article_name, case.violated))}.",
            reference=reference,
            source=f"{NAME}/{case_id}",
            license=LICENSE,
            meta={
                "group": case_id,
                "file": Path(row.file).name,
                "date": row.text("judgement_date"),
                "own_chars": len(facts),
                "teacher": teacher.name,
                "written": "reference",
                "prompt_hash": content_hash(request.system, request.user),
                **changes_as_meta(case.changes),
            },
        )

    return draft


def reference_request(case: EchrCase) -> TeacherRequest:
    system, user = completion_prompt(
        "reference",
        "legal",
        {"facts": case.facts, "articles": statutes(case, case.violated)},
        {
            "violated": ", ".join(map(article_name, case.violated)),
            "form": article_name(case.violated[0]),
            "least_steps": STEPS[0],
            "most_steps": STEPS[1],
            "least_words": WORDS[0],
            "most_words": WORDS[1],
            "least_quotes": QUOTES,
        },
    )
    return TeacherRequest(system=system, user=user, max_tokens=4000, temperature=0.7)


def check(text: str, case: EchrCase) -> Problem | None:
    """The problem of a reasoning, or None. Checks form, length, named articles, quotations and numbers."""
    lines = text.split("\n")
    found = [match[1] if (match := _STEP.match(line)) else None for line in lines]
    if found != [str(number) for number in range(1, len(lines) + 1)] or not STEPS[0] <= len(lines) <= STEPS[1]:
        return Problem(
            "is not numbered steps", f'It must be {STEPS[0]} to {STEPS[1]} lines, numbered "1. ", "2. " and on.'
        )
    if not WORDS[0] <= words(text) <= WORDS[1]:
        return Problem("has the wrong length", f"It has {words(text)} words, not {WORDS[0]} to {WORDS[1]}.")
    named = named_articles(text)
    if named != set(case.violated):
        wrong = [article_name(article) for article in sorted(named ^ set(case.violated))]
        return Problem(
            "names other articles than the violated ones",
            f"It must name exactly the violated articles; this is where it differs: {', '.join(wrong)}.",
        )
    material = f"{case.facts}\n{statutes(case, case.violated)}"
    quoted = quotations(text)
    if invented := next((quote for quote in quoted if not quoted_from(quote, material)), None):
        return Problem(
            "quotes what is not there", f'It quotes "{invented[:80]}", which stands nowhere in the material.'
        )
    cited = {quote for quote in quoted if words(quote) >= 3 and quoted_from(quote, case.facts)}
    if len(cited) < QUOTES:
        return Problem("does not cite the facts", f"It must quote the facts word for word in {QUOTES} places or more.")
    numbered = "\n".join(line.partition(". ")[2] for line in lines)
    if missing := missing_numbers(without_articles(numbered), material):
        return Problem("has numbers of its own", f"These numbers stand nowhere in the facts: {', '.join(missing[:5])}.")
    return None


def statutes(case: EchrCase, only: tuple[str, ...] | None = None) -> str:
    chosen = case.articles if only is None else only
    return "\n\n".join(f"{article_name(article)}. {case.articles[article]}" for article in chosen)


def _violated(row: CorpusRow) -> tuple[str, ...]:
    """The distinct violated articles, in the order of the convention, then of its protocols."""
    value = row.value("violated_articles")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise row.wrong_type("violated_articles", 'a list of articles such as "6" or "P1-1"')
    return tuple(sorted(set(value), key=article_order))


def _folder(path: Path | None) -> Path:
    """The folder with ECHR.json: `path`, or data/ECHR2023 below it if `path` is the authors' repository."""
    if path is None:
        raise SourceError(f"source {NAME!r} reads a corpus from disk: give path=PATH, the folder that holds {ARTICLES}")
    for folder in (path, path / FOLDER):
        if (folder / ARTICLES).is_file():
            return folder
    raise SourceError(f"source {NAME!r}: {path / ARTICLES} does not exist; path must be PILOT's folder {FOLDER}")


SOURCES.register(NAME)(
    taught(NAME, drafts, help="PILOT's ECHR cases; a teacher writes the reasoning to the violated articles (legal)")
)
