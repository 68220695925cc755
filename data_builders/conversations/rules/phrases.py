"""The phrases of conversations by rules. Sound and flawed turns share them, so that no phrase marks a flaw."""

from judge_r1.core.conversation_types import BEHAVIOUR_KEYS

QUESTIONS = {
    "focused": (
        "I would like to stay with one point. What does the document say about {topic}?",
        "Going deeper: what is recorded on {topic}?",
        "A follow-up on this: what exactly is stated about {topic}?",
    ),
    "integrative": (
        "What is the place of {topic} in the whole? Please start with what is said about it.",
        "To connect the parts: what do we know about {topic}?",
        "Next to what we had so far, what is stated about {topic}?",
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
        "I wonder what could follow from {topic}. What is the basis for it in the document?",
        "Suppose one wanted to build on {topic}. What is known?",
        "Where could {topic} lead? Please begin with what is stated.",
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
REVISIT = (
    "Back to {topic}: what was it again?",
    "Once more on {topic}, please, since I lost track.",
    "Before we go on, how was it with {topic}?",
)
AMBIGUOUS = (
    "And how was it with the other one?",
    "What about that second matter?",
    "And the one from before, what is said there?",
)
CLARIFIED = "I mean {topic}. What is stated about it?"
DIRECTIVE = (
    "In all of your answers, please leave out anything about the {word}.",
    "One request for the whole conversation: nothing about the {word}, please.",
)
OPENINGS = ("Here is what the text gives.", "The document covers this.", "This is recorded.", "In short:", "")
SILENT = ("The document says nothing about that.", "That is not stated in the document.", "The text is silent on this.")
CLARIFY = (
    "That can be read in two ways: as {one}, or as {other}. Which of the two do you mean?",
    "Do you mean {one}, or rather {other}? I can go into either of them.",
)
OUTSIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    "insur": ("who bore the insurance", ("The regional fund bore {n} per cent of it.", "A private policy covered it.")),
    "weather": ("the weather on that day", ("It was raining, with about {n} degrees.", "The day was dry and cold.")),
    "translat": ("a translation of the text", ("It was translated twice, {n} years apart.", "There is a French one.")),
    "archiv": ("where the papers are archived", ("They are kept in room {n} of the archive.", "The city has them.")),
    "telephone": ("a telephone call", ("The call took place {n} days later.", "There was one brief call at noon.")),
    "photograph": ("photographs", ("There are {n} photographs in the file.", "Two photographs were taken.")),
}  # fmt: skip
"""A word that the document must not contain -> the question about it, and invented answers."""
OUTSIDE_QUESTION = ("Does the document mention {topic}?", "What does it say about {topic}?")

assert set(QUESTIONS) == set(BEHAVIOUR_KEYS)
