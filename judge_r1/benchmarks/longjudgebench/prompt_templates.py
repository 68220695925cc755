"""Loads the release's prompt files from the user's checkout and fills them in one pass.

Inserted text is not searched for placeholders, so a document may contain `{reference}`. A placeholder without a value
is an error; with `paper` it stays in the prompt, as in the release's runner.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import short_name
from judge_r1.episode.prompts import Message, Prompt
from judge_r1.episode.tags import escape_tags
from judge_r1.files import strict_yaml
from judge_r1.files.strict_json import parse_json

_FIELD = re.compile(r"\{([a-z]+(?:_[a-z0-9]+)*)(\}?)")
"""A placeholder, also `{output_format` without the closing brace (RealDR, reference)."""
_OUTPUT = "output_format"


@dataclass(frozen=True)
class Template:
    path: Path
    system: str
    user: str
    output_format: str


@lru_cache(maxsize=128)
def load_template(root: Path, dataset: str, mode: str) -> Template:
    """Reads `config/prompts/DATASET/MODE.yaml`. Raises BadBenchmark."""
    path = root / "config" / "prompts" / dataset / f"{mode}.yaml"
    found = read_yaml(path)
    texts = []
    for key in ("task_description", "user_prompt_format", _OUTPUT):
        text = found.get(key)
        if not isinstance(text, str) or "\ue000" in text:
            raise BadBenchmark(f"{path}: field {key} must be a text without private characters")
        texts.append(text.strip("\n"))
    return Template(path, *texts)


def read_yaml(path: Path) -> dict[str, object]:
    try:
        found = strict_yaml.read_yaml(path)
    except JudgeError as error:
        raise BadBenchmark(f"{error}: --path must be a checkout with its config") from None
    if not isinstance(found, dict):
        raise BadBenchmark(f"{path} must hold fields, not {type(found).__name__}")
    return found


def fill_template(
    template: Template, fields: Mapping[str, str | None], *, paper: bool = False, lead: str = ""
) -> Prompt:
    """Fills the template; `lead` precedes the user message. Raises BadBenchmark for a placeholder without a value."""
    inserted: list[str] = []

    def mark(text: str) -> str:
        inserted.append(text if paper else escape_tags(text))
        return f"\ue000{len(inserted) - 1}\ue001"

    def value(match: re.Match[str]) -> str:
        name, closed = match[1], match[2]
        if name == _OUTPUT and (closed or not paper):
            return template.output_format
        text = fields.get(name)
        if text is not None and closed:
            return mark(text)
        if paper:
            return match[0]
        raise BadBenchmark(f"{template.path}: there is no value for the placeholder {match[0]}")

    user = _FIELD.sub(value, template.user)
    if lead:
        user = f"Task\n{mark(lead)}\n\n{user}"
    return Prompt((Message("system", template.system), Message("user", user)), tuple(inserted))


def genre_of(root: Path, tag: str | None, item_id: str) -> tuple[str, str]:
    """(genre, criteria) of a WP prompt. Raises BadBenchmark."""
    genres, folder = _genres(root), root / "config" / "prompts" / "wp_bench" / "rubric"
    if tag is None or tag not in genres:
        raise BadBenchmark(
            f"{folder}/tag_to_genre.json has no genre for tag {short_name(str(tag))!r} of {short_name(item_id)}"
        )
    genre = genres[tag]
    return genre, str(read_yaml(folder / f"genre_{genre}.yaml").get("genre_criteria", "")).strip("\n")


@lru_cache(maxsize=8)
def _genres(root: Path) -> dict[str, str]:
    path = root / "config" / "prompts" / "wp_bench" / "rubric" / "tag_to_genre.json"
    try:
        return {str(tag): str(genre) for tag, genre in parse_json(path.read_bytes(), path).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise BadBenchmark(f"{path} must be a JSON object that maps tags to genres ({error})") from None
