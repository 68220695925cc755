"""Single-turn prompts and preferences as chat messages, and notes about them for the dataset card."""

from collections.abc import Sequence

from data_builders.exports import Options, PairExample
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.prompts import DIRECT, TABLE6
from judge_r1.training.data.targets import answer, question, reasonings, single_turn_style, violations, wrong_judgment

Message = dict[str, str]
"""`role` and `content`."""


def prompt_messages(example: PairExample, options: Options) -> list[Message]:
    """The judge's prompt without searches, since a single-turn answer has none."""
    return question(*example, options.config, options.answer).chat()


def target(judgment: Judgment, options: Options) -> str:
    """A judgment in the form that `prompt_messages` ask for."""
    return answer(judgment, options.answer, options.config.prompt)


def preference(example: PairExample, options: Options) -> tuple[list[Message], str, str]:
    """(prompt, chosen, rejected): principles of the flawed reasoning (Table 7), two judgments of the pair, or its two
    reasonings as answers to the case."""
    pair, case = example
    if options.preference != "judgment":
        prompt, chosen, rejected = (
            violations(pair, case, options.config, options.seed, options.principles)
            if options.preference == "table7"
            else reasonings(pair, case, options.config)
        )
        return prompt.chat(), chosen, rejected
    wrong = wrong_judgment(pair, options.seed, options.principles)
    return prompt_messages(example, options), target(pair.gold, options), target(wrong, options)


def prompt_note(options: Options) -> str:
    """Describes the prompts, and names the judge that asks them."""
    style, context = single_turn_style(options.config, options.answer), options.config.context
    shown = "" if context == "full" else f",context={context}"
    return (
        f"Prompts: style `{style}`, context `{context}`, no search; tags in quotes are neutralised. The judge "
        f"`agentic:search=false,prompt={style}{shown}@MODEL` asks the same; `direct@MODEL` asks in other words."
    )


def answer_note(options: Options) -> str:
    """Describes the form of judgments."""
    style = single_turn_style(options.config, options.answer)
    if style == TABLE6:
        return "Answers: two lines, the comparison and the violated principles (Table 6 of the LRBench paper)."
    if style == DIRECT:
        return "Answers: one JSON object (`comparison`, `violated_principles`, `explanation`)."
    return "Answers: one JSON object (`comparison`, `violated_principles`) between answer tags."


def preference_notes(options: Options) -> Sequence[str]:
    """Describes the prompts and the two answers of a preference."""
    if options.preference == "reasoning":
        return [
            f"Prompts: the case (context `{options.config.context}`) and its decision; tags in quotes are neutralised.",
            "Chosen: the reference reasoning. Rejected: the flawed one (appendix D of the LRBench paper).",
        ]
    if options.preference == "table7":
        return [
            f"Prompts: the flawed reasoning and the case (context `{options.config.context}`); tags in quotes are "
            "neutralised.",
            "Chosen: the principles that the reasoning violates (Table 7 of the LRBench paper). Rejected: as many "
            f"other principles of this data, by the hash of the pair and the seed (seed {options.seed}).",
        ]
    return [
        prompt_note(options),
        answer_note(options),
        "Chosen: the gold judgment. Rejected: by the hash of the pair and the seed, either the other side with the "
        f"right principles or the right side with as many other principles of this data (seed {options.seed}).",
    ]
