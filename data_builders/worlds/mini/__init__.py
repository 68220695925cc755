"""`mini`: 14 to 18 facts and a vocabulary of about 150 words; the source, the rules and the rationales."""

from data_builders.worlds.mini import rationales, rules, source

__all__ = ["rationales", "rules", "source"]
