"""`haystack`: 200 to 240 facts, of which a reasoning claims six. Its rules are those of `mini` with its own words."""

from data_builders.worlds.haystack import rationales, source
from data_builders.worlds.mini.rules import register_rules

__all__ = ["rationales", "source"]

register_rules("haystack", source.WORDS, source.EVENTS, change_people=False)  # a query has one name
