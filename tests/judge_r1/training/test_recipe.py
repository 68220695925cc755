from pathlib import Path

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.files.yaml_config import ConfigError
from judge_r1.training.recipe import dump_recipe, load_recipe

BASE = """
name: test
stage: grpo
model: bundled:tiny
data: {train: data}
episode: {context: none, budget: {max_searches: 2}}
grpo: {pairs_per_step: 4, group_size: 2, micro_batch_size: 4, updates_per_step: 2}
"""


def write_recipe(folder: Path, text: str = BASE, name: str = "recipe.yaml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("name=''", "field name: must name a folder below runs/"),
        ("name=../x", "field name: must name a folder below runs/"),
        ("model=''", "field model: String should have at least 1 character"),
        ("data.train=''", "field data.train: must not be empty"),
        ("nmae=x", "unknown key nmae; did you mean 'name'?"),
        ("sft.steps=1", "unknown key sft.steps; did you mean 'sft.max_steps'?"),
        ("grpo.step=1", "unknown key grpo.step; did you mean 'grpo.steps'?"),
        (
            "episode.budget.max_search=1",
            "unknown key episode.budget.max_search; did you mean 'episode.budget.max_searches'?",
        ),
        ("max_searches=1", "unknown key max_searches; did you mean 'episode.budget.max_searches'?"),
        ("epochs=1", "unknown key epochs; did you mean 'dpo.epochs' or 'sft.epochs'?"),
        ("sft.zzz=1", "unknown key sft.zzz; available: "),
        ("grpo.steps=0", "field grpo.steps: "),
        ("episode.context=half", "field episode.context: "),
        ("episode.budget.observation_tokens=1", "field episode.budget.observation_tokens: "),
        ("grpo.group_size=1", "field grpo.group_size: "),
        ("grpo.micro_batch_size=3", "grpo.micro_batch_size (2 x 3): grpo.micro_batch_size=2 fits"),
        ("grpo.updates_per_step=3", "(3 x 4): choose another number of updates"),
        ("sft=null", "field sft: "),
        ("grpo=3", "field grpo: "),
        ("grpo.steps", "recipe.yaml: 'grpo.steps' must read grpo.steps=VALUE"),
        ("grpo.steps=[1", "is not YAML"),
        ("name.first=x", "override name.first: name is not a section"),
        ("sft.epochs=.inf", "sft.epochs=.inf' is not YAML: .inf is not a finite number"),
        ("grpo.learning_rate=.nan", "is not a finite number"),
        ("dpo.learning_rate=5", "field dpo.learning_rate: "),
        ("sft.max_steps=-7", "field sft.max_steps: "),
        ("sft.batch_size=1000000000000", "field sft.batch_size: "),
        ("seed=-1", "field seed: "),
        ("sft.packing=flase", "field sft.packing: Input should be a valid boolean, unable to interpret input: 'flase'"),
        ("episode.prompt=standrad", "field episode.prompt: no prompt is named 'standrad'; did you mean 'standard'?"),
        ("episode.prompt=table6", "episode.prompt table6 does not describe searches"),
    ],
)
def test_a_mistake_is_a_one_line_error(tmp_path: Path, override: str, message: str) -> None:
    file = write_recipe(tmp_path)
    with pytest.raises(ConfigError) as error:
        load_recipe(file, [override])
    assert message in str(error.value)
    assert not message.startswith("field episode.prompt") or str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)
    assert isinstance(error.value, JudgeError)


def test_sft_batches_are_multiples_of_micro_batches(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"multiple of sft\.micro_batch_size"):
        load_recipe(write_recipe(tmp_path), ["stage=sft", "sft.batch_size=30", "sft.micro_batch_size=4"])


def test_overrides_are_yaml_and_the_last_one_wins(tmp_path: Path) -> None:
    loaded = load_recipe(
        write_recipe(tmp_path),
        ["seed=1", "seed=2", "grpo.learning_rate=1e-5", "episode.search=false", "sft.examples=null", "name=a=b"],
    )
    assert (loaded.seed, loaded.grpo.learning_rate, loaded.episode.search) == (2, 1e-5, False)
    assert (loaded.sft.examples, loaded.name) == (None, "a=b")


def test_a_recipe_extends_others_relative_to_itself(tmp_path: Path) -> None:
    write_recipe(tmp_path)
    middle = "extends: ../recipe.yaml\ngrpo: {steps: 7}\nepisode: {budget: {top_k: 1}}\nseed: 3\n"
    write_recipe(tmp_path / "sub", middle, "middle.yaml")
    top = write_recipe(tmp_path / "sub", "extends: middle.yaml\nseed: 4\ngrpo: {kl: 0}\n", "top.yaml")
    loaded = load_recipe(top, ["grpo.clip=0.3"])
    assert (loaded.seed, loaded.grpo.steps, loaded.grpo.kl, loaded.grpo.clip) == (4, 7, 0, 0.3)
    assert (loaded.episode.budget.max_searches, loaded.episode.budget.top_k) == (2, 1)
    assert loaded.episode.context == "none"


def test_circular_extends_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="extends itself"):
        load_recipe(write_recipe(tmp_path, "extends: recipe.yaml\n"))
    write_recipe(tmp_path, "extends: ./b.yaml\n", "a.yaml")
    write_recipe(tmp_path, f"extends: ../{tmp_path.name}/a.yaml\n", "b.yaml")
    with pytest.raises(ConfigError, match="extends itself"):
        load_recipe(tmp_path / "a.yaml")


@pytest.mark.parametrize("base", ["[a.yaml, b.yaml]", "3", "{a: b}", "null", "''"])
def test_extends_names_one_file(tmp_path: Path, base: str) -> None:
    with pytest.raises(ConfigError, match=r"extends must be|is a folder: name a YAML file"):
        load_recipe(write_recipe(tmp_path, f"extends: {base}\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"a: [1", "not YAML"), (b"- a\n", "must contain keys"), (b"", "must contain keys"), (b"name: \xff", "not YAML")],
)
def test_invalid_recipe_files(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "bad.yaml").write_bytes(text)
    with pytest.raises(ConfigError, match=message):
        load_recipe(tmp_path / "bad.yaml")


def test_a_missing_file_or_base_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.yaml cannot be read"):
        load_recipe(tmp_path / "absent.yaml")
    with pytest.raises(ConfigError, match=r"absent\.yaml cannot be read"):
        load_recipe(write_recipe(tmp_path, "extends: absent.yaml\n"))


def test_a_dumped_recipe_loads_unchanged(tmp_path: Path) -> None:
    loaded = load_recipe(write_recipe(tmp_path), ["grpo.learning_rate=3.3e-7", "seed=5", "sft.examples=9"])
    again = load_recipe(write_recipe(tmp_path, dump_recipe(loaded), "again.yaml"))
    assert again == loaded
    assert dump_recipe(again) == dump_recipe(loaded)


def test_a_recipe_includes_the_recipe_it_starts_from(tmp_path: Path) -> None:
    write_recipe(tmp_path, BASE.replace("stage: grpo", "stage: sft").replace("name: test", "name: warm"), "warm.yaml")
    path = write_recipe(tmp_path, "extends: recipe.yaml\nname: later\nstart: warm.yaml\n", "later.yaml")
    write_recipe(tmp_path)
    loaded = load_recipe(path, ["start.sft.epochs=3"])
    assert loaded.start is not None
    assert (loaded.start.name, loaded.start.stage, loaded.start.sft.epochs) == ("warm", "sft", 3)
    assert loaded.model == "runs/warm/model"
    assert load_recipe(write_recipe(tmp_path, dump_recipe(loaded), "dumped.yaml")) == loaded


def test_a_recipe_cannot_start_from_itself(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="starts from or extends itself"):
        load_recipe(write_recipe(tmp_path, BASE + "start: recipe.yaml\n"))


def test_a_mistake_in_an_optional_section_names_the_nearest_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown key lora\.rnk; did you mean 'lora\.rank'\?"):
        load_recipe(write_recipe(tmp_path), ["lora.rnk=8"])
    with pytest.raises(ConfigError, match=r"unknown key start\.nmae; did you mean 'start\.name'\?"):
        load_recipe(write_recipe(tmp_path), ["start.nmae=8"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["stage=sft", "sft.form=json"], "sft.form json is a single-turn answer without searches"),
        (["stage=dpo"], "dpo.form judgment is a single-turn answer without searches"),
        (["stage=sft", "sft.form=table6", "episode.search=false"], "ask for different answers"),
        (["stage=sft", "sft.form=json", "episode={search: false, prompt: table6}"], "ask for different answers"),
        (["stage=sft", "sft.form=json", "sft.rationales=mini"], "remove rationales and rationales_file"),
        (["deepspeed=zero2"], "deepspeed is for sft and dpo"),
    ],
)
def test_forms_that_contradict_the_episode_are_refused(tmp_path: Path, changes: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_recipe(write_recipe(tmp_path), changes)


def test_names_of_earlier_versions_are_refused_with_those_of_today(tmp_path: Path) -> None:
    now = "traces is called examples now, traces_file is called rationales_file now, form traces is called form"
    with pytest.raises(ConfigError, match=f"recipe.yaml: field sft: {now} rationales now$"):
        load_recipe(write_recipe(tmp_path), ["sft={form: traces, traces: null, traces_file: null}"])
    with pytest.raises(ConfigError, match=r"field sft: traces is called examples now$"):
        load_recipe(Path("mini", "warmup"), ["sft.traces=3"])


def test_forms_that_match_the_episode_are_accepted(tmp_path: Path) -> None:
    for changes in (
        ["stage=sft", "sft.form=json", "episode.search=false"],
        ["stage=sft", "sft.form=table6", "episode={search: false, prompt: table6}"],
        ["stage=dpo", "episode.search=false"],
        ["stage=dpo", "dpo.form=reasoning"],
    ):
        load_recipe(write_recipe(tmp_path), changes)
