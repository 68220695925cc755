"""The wording of prompts to teachers by domain: the teacher's role and the name of a decision."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DomainText:
    """The wording of one domain. `role` follows "You are"; `decision_name` follows "the"."""

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
"""The wording by domain. A source with a new domain adds an entry."""


def domain_text(domain: str) -> DomainText:
    """The wording of a domain; a generic one if the domain is unknown."""
    default = DomainText(role=f"an expert in the field {domain!r}", decision_name="decision")
    return DOMAINS.get(domain, default)
