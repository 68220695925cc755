"""The grammar of a SPEC."""

import pytest

from judge_r1.core.spec import BadSpec, Spec, parse_spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("longer", Spec(None, "longer")),
        ("x y=agentic:a=1,b=p/q@runs/a=b", Spec("x y", "agentic", ("a=1", "b=p/q"), "runs/a=b")),
        ("direct@https://h:1/v1#m(2)", Spec(None, "direct", (), "https://h:1/v1#m(2)")),
        ("a@m|b@n", Spec(None, "panel", (), "", ("a@m", "b@n"))),
        ("both=a@m|b", Spec("both", "panel", (), "", ("a@m", "b"))),
        ("r=panel:orders=2(a@m|x(b|c))", Spec("r", "panel", ("orders=2",), "", ("a@m", "x(b|c)"))),
        ("cascade:threshold=.9(a|b)|c", Spec(None, "panel", (), "", ("cascade:threshold=.9(a|b)", "c"))),
    ],
)
def test_a_spec_is_parsed(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("text", ["", "Agentic", "a/b=longer", "direct(a|)", "|a", "x=a||b", "panel(a", "x:a=1,a=2@m"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(BadSpec):
        parse_spec(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("longer@", "'longer@' names nothing after its @: write a MODEL there, or leave out the @"),
        ("longer:", "'longer:' has an empty option: write NAME=VALUE there, or leave out the :"),
        ("longer:,", "'longer:,' has an empty option: write NAME=VALUE there, or leave out the ,"),
        ("direct:a=1,@m", "'direct:a=1,@m' has an empty option: write NAME=VALUE there, or leave out the ,"),
    ],
)
def test_a_sign_with_nothing_behind_it_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadSpec, match=f"^{says}$"):
        parse_spec(text)
