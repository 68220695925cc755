"""A scripted judge of known errors, for documents of `judge-r1 build cofluence` that were made from templates.

It reads the first WINDOW words of a text, finds the errors there by the vocabulary of the templates, and lowers the
score by their number per 1,000 words of the whole text. So it misses errors in long texts by construction, and none in
sections of at most WINDOW words. A seeded jitter of up to a quarter point stands for the noise of a real judge.
"""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from statistics import fmean

from data_builders.manipulations.corpus import story, story_lexicon
from data_builders.manipulations.operators.coherence import modern_sentences, wordings
from data_builders.manipulations.units import CHAPTER
from judge_r1.core.record_base import content_hash
from retrieval.passages import sentences

WINDOW = 2_200
JITTER = 0.25
PENALTIES = {"SPELLING": 0.1, "GRAMMAR": 0.25, "SYNTAX": 0.5, "LOGIC": 1.2, "CLARITY": 0.25}
"""Points for one error per 1,000 words."""
FLUENCY_TAGS, COHERENCE_TAGS = ("SPELLING", "GRAMMAR", "SYNTAX"), ("LOGIC", "CLARITY")
LISTED = 6
"""The most issues that an answer lists for a metric."""
DEVICES = frozenset({"smartphone", "tablet", "laptop"})
_WORD = re.compile(r"[A-Za-z]+")
_SCORE = re.compile(r"^  - (Fluency|Coherence): ([\d.]+)$", re.MULTILINE)


def answer(system: str, user: str, sample: int) -> str:
    """The reply to any prompt of the judges `memo` and `document`, for `FakeLLMServer`."""
    if (pair := [_block(user, f"Report on document {name}") for name in "AB"])[0] is not None:
        means = [fmean(float(score) for _, score in _SCORE.findall(report or "")) for report in pair]
        better = "tie" if means[0] == means[1] else "A" if means[0] > means[1] else "B"
        return f"FINAL Better: {better}\nFINAL Worse In: none"
    if (report := _block(user, "Report")) is not None:
        scores = _SCORE.findall(report)
        found = {
            name: [float(score) for metric, score in scores if metric == name] for name in ("Coherence", "Fluency")
        }
        return "\n".join(f"FINAL {name} Score: {_half(fmean(values))}" for name, values in found.items() if values)
    text = _block(user, "Text") or ""
    if "Summarise" in user:
        return "Somebody looks for something."
    return evaluation(text)


def evaluation(text: str) -> str:
    """The rating of a text, in the layout of the prompt v6-3."""
    issues = visible_errors(text)
    words = max(1, len(text.split()))
    parts, finals = [], []
    for number, (title, tags) in enumerate((("Coherence", COHERENCE_TAGS), ("Fluency", FLUENCY_TAGS)), 1):
        own = [(tag, example) for tag in tags for example in issues[tag]]
        lines = [f"- [{tag}] {example}" for tag, example in own[:LISTED]] or ["None"]
        parts.append(f"{number}) {title} Issues:\n" + "\n".join(lines))
        penalty = sum(PENALTIES[tag] * len(issues[tag]) for tag in tags) * 1000 / words
        noise = (int(content_hash(text, title), 16) % 2001 / 1000 - 1) * JITTER
        finals.append(f"{number + 2}) FINAL {title} Score: {_half(5 - penalty + noise)}")
    return "\n".join([*parts, *finals])


def visible_errors(text: str) -> dict[str, list[str]]:
    """The errors in the first WINDOW words, by tag."""
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    seen = text[: ends[WINDOW - 1]] if len(ends) > WINDOW else text
    vocabulary, present, pairs, cast_of = _knowledge()
    found: dict[str, list[str]] = {tag: [] for tag in PENALTIES}
    for start, end in sentences(seen):
        sentence = seen[start:end]
        words = [word.lower() for word in _WORD.findall(sentence)]
        found["SPELLING"] += [f"{word!r} is misspelled" for word in words if word not in vocabulary]
        found["GRAMMAR"] += [f"{word!r} is in the wrong tense" for word in words if word in present]
        found["CLARITY"] += [f"it is unclear what {word!r} means" for word in words if word in wordings().terms]
        if DEVICES & set(words):
            found["LOGIC"].append(f"this does not fit the time of the story: {sentence[:60]}")
        known = [word for word in words if word in vocabulary and word not in present | set(wordings().terms)]
        odd = sum((a, b) not in pairs for a, b in pairwise(known))
        if odd >= 3 and not DEVICES & set(words):
            found["SYNTAX"].append(f"the words are out of order: {sentence[:60]}")
    paragraphs = [[cast_of[word] for word in _WORD.findall(part) if word in cast_of] for part in seen.split("\n\n")]
    counts = Counter(cast for casts in paragraphs for cast in casts)
    own = counts.most_common(1)[0][0] if counts else None
    foreign = sum(own not in casts for casts in paragraphs if casts)
    found["LOGIC"] += ["a paragraph is about other persons"] * foreign
    return found


@cache
def _knowledge() -> tuple[frozenset[str], frozenset[str], frozenset[tuple[str, str]], dict[str, int]]:
    """All words of the stories, verbs in the wrong tense, neighbouring words, and the story of each name."""
    lexicon = story_lexicon()
    vocabulary: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    for number in range(3 * len(lexicon.casts)):
        title, text = story(number, 3_000, seed=77)
        text = "\n\n".join([text, *(CHAPTER + heading for heading in lexicon.chapters)])
        for start, end in sentences(text):
            words = [word.lower() for word in _WORD.findall(text[start:end])]
            vocabulary |= set(words)
            pairs |= set(pairwise(words))
        vocabulary |= {word.lower() for word in _WORD.findall(title)}
    present = frozenset({other for word in vocabulary for other in _present(word)} - vocabulary)
    modern = {word.lower() for group in modern_sentences() for sentence in group for word in _WORD.findall(sentence)}
    cast_of = {
        name: number
        for number, names in enumerate(zip(lexicon.casts, lexicon.places, strict=True))
        for name in (*names[0], *names[1])
    }
    return frozenset(vocabulary | present | modern | set(wordings().terms)), present, frozenset(pairs), cast_of


def _present(word: str) -> set[str]:
    """The forms of the present of a word that may be a past one."""
    import lemminflect

    lemmas = {lemma for found in lemminflect.getAllLemmas(word).values() for lemma in found}
    past = {lemma for lemma in lemmas if word in lemminflect.getInflection(lemma, tag="VBD")}
    return {form for lemma in past for tag in ("VBZ", "VBP") for form in lemminflect.getInflection(lemma, tag=tag)}


def _block(user: str, title: str) -> str | None:
    """The text between the marks under a title of a prompt."""
    match = re.search(rf"^{title}:\n<<<\n(.*?)\n>>>", user, re.MULTILINE | re.DOTALL)
    return match[1] if match else None


def _half(score: float) -> float:
    """The nearest half point from 1 to 5."""
    return min(5.0, max(1.0, round(score * 2) / 2))
