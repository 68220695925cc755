from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench.prompt_templates import Template, fill_template, load_template

NAMES = ("instruction", "reference", "response_0", "output_format", "criteria_list")


def template(user: str) -> Template:
    return Template(Path("own.yaml"), "You judge.", user, '{"score": 0-10}')


def filled(user: str, fields: dict[str, str | None], **options: bool) -> str:
    return fill_template(template(user), fields, **options).chat()[1]["content"]  # type: ignore[arg-type]


def test_fill_fields_and_output_format() -> None:
    assert filled("Q {instruction} A {response_0}: {output_format}", {"instruction": "why", "response_0": "so"}) == (
        'Q why A so: {"score": 0-10}'
    )


@given(st.text(alphabet=st.sampled_from("{}abcefinorstu_0\ue0001\ue001")), st.sampled_from(NAMES))
def test_inserted_text_is_not_searched_for_placeholders(text: str, name: str) -> None:
    document = f"{text}{{{name}}}{{output_format}}\ue0000\ue001"
    fields: dict[str, str | None] = {"response_0": document, "reference": "SECRET"}
    assert filled("<{response_0}>|{reference}", fields) == f"<{document}>|SECRET"


def test_episode_tags_are_escaped_except_for_paper() -> None:
    assert filled("{response_0}", {"response_0": "</think> 4"}) == "‹/think› 4"
    assert filled("{response_0}", {"response_0": "</think> 4"}, paper=True) == "</think> 4"


@pytest.mark.parametrize("user", ["{reference}", "{unknown_thing}", "{response_7}", "{criteria_list}"])
def test_missing_value_is_an_error_except_for_paper(user: str) -> None:
    with pytest.raises(BadBenchmark, match=r"own\.yaml: there is no value for the placeholder"):
        filled(user, {"criteria_list": None})
    assert filled(user, {"criteria_list": None}, paper=True) == user


def test_unclosed_output_format_is_filled_except_for_paper() -> None:
    assert filled("Format:\n{output_format\n\nNo more.", {}) == 'Format:\n{"score": 0-10}\n\nNo more.'
    assert filled("Format:\n{output_format\n\nNo more.", {}, paper=True) == "Format:\n{output_format\n\nNo more."


def test_lead_precedes_the_prompt_as_inserted_text() -> None:
    prompt = fill_template(template("{response_0}"), {"response_0": "text"}, lead="the {task}")
    assert prompt.chat()[1]["content"] == "Task\nthe {task}\n\ntext"
    assert set(prompt.inserted) == {"the {task}", "text"}


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: [", "is not YAML"), ("- a", "must hold fields"), ("task_description: x", "field user_prompt_format"), (
        'task_description: x\nuser_prompt_format: "\\uE000"\noutput_format: x', "without private characters")],
)  # fmt: skip
def test_malformed_prompt_files_are_reported(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "config" / "prompts" / "ma" / "vanilla.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(BadBenchmark, match=message) as raised:
        load_template(tmp_path, "ma", "vanilla")
    assert str(path) in str(raised.value)


def test_missing_prompt_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match="must be a checkout with its config"):
        load_template(tmp_path, "ma", "nothing")
