"""How prompts speak of a domain: who the teacher is, and what a decision is called there."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DomainText:
    """`role` follows "You are", `decision_name` follows "the"."""

    role: str
    decision_name: str


DOMAINS: dict[str, DomainText] = {
    "medical": DomainText(
        role="a senior physician who explains diagnoses and treatments step by step",
        decision_name="diagnosis or treatment",
    ),
    "legal": DomainText(
        role="an experienced lawyer who analyses human rights cases step by step",
        decision_name="ruling",
    ),
    "academic": DomainText(
        role="an experienced researcher who reviews papers for journals and conferences",
        decision_name="recommendation",
    ),
}
"""By domain; whoever brings a new domain adds its entry."""


def domain_text(domain: str) -> DomainText:
    """The entry of a domain, or one that its name alone gives."""
    default = DomainText(role=f"an expert in the field {domain!r}", decision_name="decision")
    return DOMAINS.get(domain, default)
