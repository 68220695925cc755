"""Adds details to a generated case: sentences with counts, amounts, dates and people, which decide nothing.

`words/details.txt` has them by domain and section; `<list>` is an entry of a list of that file (`<list!>` with a
capital), `{date}` and `{year}` lie in the section's period, `{first}` and `{last}` near its ends.
"""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from random import Random

from data_builders.sources.builtin_cases.filling import capital
from data_builders.sources.builtin_cases.grammar import word_lists
from data_builders.sources.builtin_cases.writing import Written

MONTHS = "January February March April May June July August September October November December".split()
COUNT = (17, 21)
"""How many details a case has, at least and at most."""
Period = tuple[date, date]
_LISTS = word_lists("details")
_LIST = re.compile(r"<([a-z ]+)(!?)>")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio])")


def add_details(written: Written, domain: str, periods: Mapping[str, Period], rng: Random) -> None:
    """Adds details to the sections of a case, at random places behind their first sentences."""
    entries = [entry.split(": ", 1) for entry in _LISTS[f"{domain} details"]]
    for section, template in rng.sample(entries, rng.randint(*COUNT)):
        inner = written.filling.inner()
        if section in periods:
            first, last = periods[section]
            days = (last - first).days
            day = first + timedelta(days=rng.randint(days // 10, days - days // 10))
            inner.slots |= {"date": on(day), "year": str(day.year)}
            edge = timedelta(days=rng.randint(0, days // 10))
            inner.slots |= {"first": on(first + edge), "last": on(last - edge)}
        text = inner.text(_LIST.sub(lambda match: _entry(match, rng), template))
        written.insert(section, _ARTICLE.sub(r"\1n ", text))


def _entry(match: re.Match[str], rng: Random) -> str:
    """Returns an entry of a list, with a capital behind `!`."""
    entry = rng.choice(_LISTS[match[1]])
    return capital(entry) if match[2] else entry


def on(day: date) -> str:
    """Returns a date such as `4 May 2015`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
