"""A local model as teacher: whatever the model, its answers can be parsed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import command_server
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perturb_factories import CASES
from teacher_factories import FAST, request_for, run
from toy_teacher import save_toy_teacher

from data_builders import build_recipe
from data_builders.build_recipe import BuildRecipe
from data_builders.perturb.teacher.answer_parser import Kind, parse_answer, unrequested_variants
from data_builders.perturb.teacher.variant_checks import check_variant
from data_builders.perturb.teacher.variant_form import VariantForm
from data_builders.prompts.pair_prompts import OWN_PROMPTS
from data_builders.rationales.teacher import turn_form
from data_builders.second_opinion import verify
from data_builders.teachers import TeacherRefused, TeacherRequest
from data_builders.teachers.answer_cache import Cache
from data_builders.teachers.budget import Price, Spending
from data_builders.teachers.cached_teacher import open_teacher
from data_builders.teachers.local import LocalTeacher, teacher_name
from data_builders.text_units.steps import split_steps
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Flaw, Origin, ReasoningPair, Span

PLAN = {"source": "mini", "variants": 2, "limit": 2, "concurrency": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy_teacher(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def teachers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[LocalTeacher]]:
    """Two models that end lines, and one that does not know how to."""
    base = tmp_path_factory.mktemp("toys")
    biases = (6.0, 3.0, 0.0)
    folders = [save_toy_teacher(base / str(seed), seed, line_end_bias=bias) for seed, bias in enumerate(biases)]
    loaded = [LocalTeacher.load(str(folder), max_rows=4) for folder in folders]
    yield loaded
    for teacher in loaded:
        run(teacher.aclose())


@settings(max_examples=4)
@given(
    model=st.integers(0, 2),
    number=st.integers(0, 2),
    principle=st.sampled_from([None, 1, 2, 3, 4, 5, 6]),
    wanted=st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True).map(sorted),
    temperature=st.sampled_from([0.0, 0.7, 2.0]),
    sample=st.integers(0, 10**6),
)
def test_variants_can_always_be_parsed(
    teachers: list[LocalTeacher],
    model: int,
    number: int,
    principle: int | None,
    wanted: list[int],
    temperature: float,
    sample: int,
) -> None:
    case = CASES[number]
    steps = split_steps(case.reference)
    system, user = OWN_PROMPTS.single(case, principle, wanted) if principle else OWN_PROMPTS.multi(case, wanted)
    form = VariantForm(case.reference, steps, wanted, principle)
    asked = TeacherRequest(system=system, user=user, max_tokens=500, temperature=temperature, sample=sample, form=form)
    reply = run(teachers[model].ask(asked))
    kind: Kind = "single" if principle else "multi"
    variants, rejections = parse_answer(reply.answer, wanted, kind, finished=reply.finished)
    assert [*unrequested_variants(reply.answer, wanted)] == []
    assert {rejection.reason for rejection in rejections} <= {"the variant is empty"}
    for variant in variants:
        checked = check_variant(case, steps, variant, kind, (principle,) if principle else variant.principles)
        assert getattr(checked, "reason", "") not in (
            "the numbering differs", "the lines differ", "more than one step is changed",
        )  # fmt: skip
    assert run(teachers[model].ask(asked)) == reply, "the answer depends on the request alone"


def pair_of(number: int) -> ReasoningPair:
    case = CASES[number]
    flaw = Flaw(principle=1, operator="teacher", span=Span(start=3, end=4))
    flawed = case.reference[:3] + "X" + case.reference[4:]
    origin = Origin(teacher="toy", seed=0, prompt_hash="0", flaws=(flaw,))
    return ReasoningPair.of(case, flawed, variant=1, origin=origin, seed=0)


@pytest.mark.parametrize("model", [0, 2])
def test_opinions_and_turns_can_always_be_parsed(teachers: list[LocalTeacher], model: int) -> None:
    pair = pair_of(0)
    [opinion] = run(verify(CASES[0], [pair], teachers[model]))
    assert opinion.worse in ("A", "B") or opinion.neither
    assert opinion.neither or 1 <= len(opinion.violated) <= 3
    for may_search, may_answer in [(True, False), (False, True), (True, True)]:
        form = turn_form(100, may_search=may_search, may_answer=may_answer)
        text = run(teachers[model].ask(request_for("judge", form=form))).text
        assert text.startswith("<think>")
        if "</think>" in text:
            assert text.endswith("</search>" if "<search>" in text else "</answer>")
            assert ("<search>" in text) <= may_search
            assert ("<answer>" in text) <= may_answer


def test_a_thought_that_does_not_end_is_cut_behind_a_sentence() -> None:
    class Writer:
        def add(self, text: str) -> None:
            assert "And" not in text

        async def choose(self, options: Sequence[str], end: str = "\n") -> str:
            return options[-1]

        async def write(self, max_tokens: int, end: str = "\n") -> tuple[str, bool]:
            return "A is wrong here. And the", False

    async def turn() -> str:
        return await turn_form(100, may_search=False, may_answer=True)(Writer())

    text = run(turn())
    assert text.startswith("<think>A is wrong here.</think>\n<answer>{")


def build(folder: Path, out: Path, verifier: str | None = None) -> tuple[dict[str, bytes], str]:
    verified = {"verify": verifier, "keep": "all"} if verifier else {}
    recipe = BuildRecipe.model_validate(
        PLAN | verified | {"teacher": f"chat@{folder}", "cache": out / "answers.sqlite"}
    )
    done = build_recipe.build(recipe, out)
    return {name: (out / name).read_bytes() for name in ("cases.jsonl", "pairs.jsonl", "build.json")}, done.message


def test_a_second_build_reads_all_answers_from_the_cache(folder: Path, tmp_path: Path) -> None:
    first, message = build(folder, tmp_path / "one", f"chat@{folder}")
    assert ", 0 answers from the cache" in message
    assert first["pairs.jsonl"]
    assert b'"teacher": "local:toy' in first["pairs.jsonl"]
    again, message = build(folder, tmp_path / "one", f"chat@{folder}")
    assert ": 0 calls, " in message
    assert again == first


def test_a_prompt_that_is_too_long_is_refused_and_counted(tmp_path: Path) -> None:
    short = save_toy_teacher(tmp_path / "short", context=300)
    message = (
        r"14 requests rejected, the first one because: a prompt of \d+ tokens and an answer of up to \d+ are more "
        r"than the 300 tokens that local:short@\w{8} reads: use a model with a longer context"
    )
    with pytest.raises(JudgeError, match=message):
        build(short, tmp_path / "out")

    async def ask() -> None:
        with Cache(tmp_path / "answers.sqlite") as cache:
            async with open_teacher(f"chat@{short}", cache, policy=FAST) as teacher:
                await teacher.ask(request_for("x", max_tokens=1000))

    with pytest.raises(TeacherRefused, match="longer context"):
        run(ask())


def test_a_failure_of_the_model_names_it(teachers: list[LocalTeacher]) -> None:
    class Broken:
        async def generate(self, requests: object) -> list[object]:
            raise RuntimeError("out of memory\ndetails")

    one = teachers[0]
    broken = LocalTeacher("local:big", Broken(), one.tokenizer, one.eos_ids)  # type: ignore[arg-type]
    with pytest.raises(JudgeError, match=r"^local:big failed \(out of memory\): if memory ran out, lower conc"):
        run(broken.ask(request_for("x")))


def test_checkpoints_of_one_name_are_different_teachers(folder: Path, tmp_path: Path) -> None:
    one, other = (save_toy_teacher(tmp_path / name / "checkpoint-100", seed) for name, seed in (("a", 1), ("b", 2)))
    assert len({teacher_name(str(one)), teacher_name(str(other))}) == 2
    assert teacher_name(str(one)) == teacher_name(str(one) + "/")
    assert teacher_name(str(one)).startswith("local:checkpoint-100@")
    assert teacher_name("bundled:tiny") == "local:bundled:tiny"
    assert teacher_name("org/model") == "local:org/model"


def test_a_local_teacher_needs_no_price(tmp_path: Path, folder: Path) -> None:
    spending = Spending({"other": Price(input=1, output=1)}, budget=1)

    async def ask() -> None:
        with Cache(tmp_path / "answers.sqlite") as cache:
            async with open_teacher(f"chat@{folder}", cache, policy=FAST, spending=spending) as teacher:
                await teacher.ask(request_for("x"))

    run(ask())
    assert spending.usd == 0
    assert "local:" in spending.summary()
    assert "$" not in spending.summary()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["teacher=chat@"], "names no model"),
        (["teacher=chat@bundled:smol"], "no bundled model is named 'smol'"),
        (["teacher=chat@no/such/folder"], "there is no folder no/such/folder, and hub names read owner/model"),
        (["teacher=chat@bundled:tiny", "batch_export=x.jsonl"], "needs a teacher with a batch service"),
    ],
)
def test_usage_errors_are_one_line(tmp_path: Path, more: list[str], message: str) -> None:
    done = command_server.run("build", "mini", "--out", tmp_path / "out", *more)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
    assert not (tmp_path / "out" / "answers.sqlite").exists()
