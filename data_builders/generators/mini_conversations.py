"""Generated pairs of short conversations for tiny models."""

from collections.abc import Iterator

from data_builders.conversations import Written, mini
from data_builders.conversations.sampler import Conditions
from data_builders.generators import register
from data_builders.generators.base import NoOptions
from data_builders.generators.conversations import Candidate, ConversationGenerator, VerifiedGroup, group_of, pair_of
from data_builders.perturb.pair_checks import RULES
from judge_r1.core.conversations import Document

DOCUMENTS = 60
"""Documents of a build without a limit."""


@register
class MiniConversations(ConversationGenerator):
    """generated pairs of short conversations in a small vocabulary (no documents needed)"""

    name = "mini-conversations"
    options = NoOptions
    unused = ("path", *ConversationGenerator.unused)

    def items(self) -> Iterator[Document]:
        count = DOCUMENTS if self.plan.limit is None else self.plan.limit
        return (mini.document(number, self.plan.seed) for number in range(count))

    def conditions(self, document: Document) -> list[Conditions]:
        return [mini.conditions(document, number, self.plan.seed) for number in range(self.plan.variants)]

    def generate(self, item: Document) -> VerifiedGroup:
        return group_of(item, [_candidate(item, conditions) for conditions in self.conditions(item)])


def _candidate(document: Document, conditions: Conditions) -> Candidate:
    talks = (mini.write(document, conditions, flawed=flawed) for flawed in (False, True))
    better, worse = (Written(tuple(talk.messages), tuple(talk.plan)) for talk in talks)
    pair = pair_of(document, conditions, better, worse, RULES)
    return mini.verify(pair, document), pair
