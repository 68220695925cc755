"""Details of generated cases: in every section, with dates of its period; names, articles and verbs agree."""

import re
from datetime import date
from random import Random

import pytest

from data_builders.sources.builtin_cases import details
from data_builders.sources.builtin_cases.details import COUNT, MONTHS, add_details, on
from data_builders.sources.builtin_cases.filling import Filling, led
from data_builders.sources.builtin_cases.grammar import word_lists
from data_builders.sources.builtin_cases.made_academic import is_plural
from data_builders.sources.builtin_cases.people import first_name, people
from data_builders.sources.builtin_cases.writing import Written

DATE = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b")
SECTIONS = {
    "medical": ("presentation", "history", "examination", "tests", "nursing"),
    "legal": ("facts", "proceedings", "law"),
    "academic": ("problem", "method", "data", "checks", "limits"),
}
PERIOD = date(2015, 3, 9), date(2016, 8, 2)


def written(domain: str, seed: int) -> Written:
    made = Written(Filling(Random(seed), {"short": "Ms Varga", "he": "she", "his": "her", "him": "her"}))
    for section in SECTIONS[domain]:
        made.state(section, "First.")
        made.state(section, "She agreed.")
    periods = dict.fromkeys(SECTIONS[domain], PERIOD)
    add_details(made, domain, periods, Random(seed))
    return made


@pytest.mark.parametrize("domain", SECTIONS)
def test_details_come_behind_the_first_sentence_and_before_no_pronoun(domain: str) -> None:
    for seed in range(20):
        texts = written(domain, seed).sections(SECTIONS[domain])
        assert set(texts) == set(SECTIONS[domain])
        assert all(text.startswith("First. She agreed.") for text in texts.values())
        added = sum(text.count(". ") - 1 for text in texts.values())
        assert COUNT[0] <= added <= COUNT[1] + 2, "a text may have an abbreviation"


@pytest.mark.parametrize("domain", SECTIONS)
def test_dates_lie_in_the_period_of_their_section(domain: str) -> None:
    found = [match for seed in range(30) for match in DATE.finditer(" ".join(_texts(domain, seed)))]
    assert len(found) > 20
    for match in found:
        assert PERIOD[0] <= date(int(match[3]), MONTHS.index(match[2]) + 1, int(match[1])) <= PERIOD[1]


def _texts(domain: str, seed: int) -> list[str]:
    return list(written(domain, seed).sections(SECTIONS[domain]).values())


@pytest.mark.parametrize("domain", SECTIONS)
def test_every_detail_is_filled_and_has_a_number(domain: str) -> None:
    entries = word_lists("details")[f"{domain} details"]
    assert len(entries) == len(set(entries)) >= 60
    for entry in entries:
        section, template = entry.split(": ", 1)
        assert section in SECTIONS[domain]
        assert "{" in template, f"{template!r} has nothing to change"
        assert set(re.findall(r"<([a-z ]+)!?>", template)) <= word_lists("details").keys()
    for seed in range(30):
        for text in _texts(domain, seed):
            assert not re.search(r"[<>{}|]|\b[Aa] [aeio]", text), text


def test_a_list_entry_gets_an_article_and_a_capital(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = {"legal details": ["facts: <weather!> and a <tree> on {date}."], "tree": ["oak"], "weather": ["fog"]}
    monkeypatch.setattr(details, "_LISTS", lists)
    monkeypatch.setattr(details, "COUNT", (1, 1))
    made = Written(Filling(Random(0), {}))
    add_details(made, "legal", {"facts": (date(2020, 5, 4), date(2020, 5, 4))}, Random(0))
    assert made.sections(("facts",)) == {"facts": "Fog and an oak on 4 May 2020."}
    assert on(date(2021, 12, 31)) == "31 December 2021"


@pytest.mark.parametrize(
    ("phrase", "plural"),
    [
        ("hearing thresholds", True),
        ("loss of hearing", False),
        ("masks with worn filters", True),
        ("a network that reads two views", False),
        ("reading boxes before text", False),
        ("reading scores", True),
        ("rotating boards", True),
        ("hours of sleep", True),
        ("baker's yeast", False),
        ("children with asthma", True),
        ("facts split into claims", True),
    ],
)
def test_verbs_agree_with_the_nouns_of_a_study(phrase: str, plural: bool) -> None:
    assert is_plural(phrase) is plural


def test_generated_cases_draw_from_many_names() -> None:
    assert len({people(Random(n))().split()[1] for n in range(400)}) > 150
    assert first_name(Random(3), woman=True) not in " ".join(word_lists("people")["men"]).split()


def test_a_lead_is_followed_by_a_blank() -> None:
    assert led("Moreover,", "The file was lost.") == "Moreover, the file was lost."
    assert led("Moreover,", "Vienna was far.") == "Vienna was far."
