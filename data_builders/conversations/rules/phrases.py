"""The phrases of conversations by rules. Sound and flawed turns share them, so that no phrase marks a flaw."""

from judge_r1.core.conversation_types import BEHAVIOUR_KEYS

QUESTIONS = {
    "focused": (
        "I would like to stay with one point. What does the document say about {topic}?",
        "Going deeper: what is recorded on {topic}?",
        "A follow-up on this: what exactly is stated about {topic}?",
    ),
    "integrative": (
        "To connect the parts: what do we know about {topic}?",
        "Next to what we had so far, what is stated about {topic}?",
        "To complete the picture: what does it say about {topic}?",
    ),
    "scattered": (
        "Something else entirely: what about {topic}?",
        "Another thing. What does it say about {topic}?",
        "Let me jump. What is written about {topic}?",
    ),
    "skeptical": (
        "I doubt that this is documented at all. What is really said about {topic}?",
        "Can you back that up? What does the document state about {topic}?",
        "I am not convinced. What is the wording on {topic}?",
    ),
    "misinformed": (
        "As I recall, this document has nothing on {topic}. Or does it?",
        "I am sure that nothing is recorded about {topic}. Or is there anything?",
        "The document leaves {topic} open, of course. What do you find?",
    ),
    "exploratory": (
        "I wonder what could follow from {topic}. What does the document say?",
        "Suppose one wanted to build on {topic}. What is stated there?",
        "Before I think further about {topic}: what is known?",
    ),
    "underspecified": ("And {topic}?", "What about {topic}?", "{topic}, then?"),
}  # fmt: skip
FIRST_QUESTIONS = QUESTIONS | {
    "focused": ("I have come for one point. What does the document say about {topic}?",),
    "integrative": QUESTIONS["integrative"][:1],
    "scattered": ("I have several questions that are unrelated. What about {topic}, to begin with?",),
    "skeptical": (QUESTIONS["skeptical"][0], QUESTIONS["skeptical"][2]),
    "underspecified": QUESTIONS["underspecified"][1:2],
}
"""Those that refer to no earlier turn."""
CORRECTION = "The document does cover {topic}."
"""How an answer begins where the user supposes that there is none."""
REVISIT = (
    "Back to {topic}: what did the document say?",
    "Once more on {topic}, please, since I lost track.",
    "Before we go on, how was it with {topic}?",
)
AMBIGUOUS = ("What does it say about the {head}?", "And what is stated on the {head}?")
CLARIFY = (
    "That can be read in two ways: do you mean {one}, or {other}?",
    "Do you mean {one}, or rather {other}?",
)
CLARIFIED = "I mean {topic}. What is stated there?"
DIRECTIVE = (
    "In all of your answers, please leave out anything about {topic}.",
    "One request for the whole conversation: nothing about {topic}, please.",
)
SILENT = (
    "The document says nothing about {topic}.",
    "There is no information on {topic} in the document.",
    "The text is silent on {topic}.",
)
OUTSIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    "insur": ("the insurance", ("The insurance paid {n} per cent of the costs.", "The insurance paid for it.")),
    "weather": ("the weather", ("The weather was wet, with about {n} degrees.", "The weather was dry and cold.")),
    "translat": ("a translation", ("A translation was made {n} years later.", "There is a French translation.")),
    "archiv": ("an archive", ("The papers are in room {n} of the archive.", "The archive of the city has the papers.")),
    "telephone": ("a telephone call", ("A telephone call took place {n} days later.", "There was one telephone call.")),
    "photograph": ("photographs", ("There are {n} photographs in the file.", "Two photographs were taken.")),
}  # fmt: skip
"""A word that the document must not contain -> the question about it, and invented answers."""
OUTSIDE_QUESTION = ("Does the document mention {topic}?", "What does it say about {topic}?")

assert set(QUESTIONS) == set(BEHAVIOUR_KEYS)
