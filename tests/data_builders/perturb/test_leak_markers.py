"""Notes and emphasis are leak markers; ordinary words about errors, principles and violations are not."""

import pytest

from data_builders.perturb.pair_checks import find_leak_marker


@pytest.mark.parametrize(
    "new",
    [
        "the mass was 39 mm [flaw]", "the mass was 39 mm (incorrect)",
        "the mass was 39 mm (this violates Groundedness)", "the mass was 39 mm (sic)", "the **mass** was 39 mm",
        "the *mass* was 39 mm", "the <mark>mass</mark> was 39 mm", "the mass was 39 mm. Clue: look at the scan",
        "the mass was 39 mm, in breach of Factual Consistency", "the mass was 39 mm, which breaks principle 2",
        "{the mass was 39 mm}", "Violated Principles: [2] the mass was 39 mm", "the mass was 39 mm [inserted detail]",
        "the mass was 39 mm, which is of course a wrong conclusion", "the mass was 39 mm. This is incorrect.",
    ],
)  # fmt: skip
def test_leak_markers_are_found(new: str) -> None:
    assert find_leak_marker("the mass was 36 mm", new) is not None


@pytest.mark.parametrize(
    "new",
    [
        "there has been a violation of Article 8 of the Convention",
        "the error was 3 mm (standard error 0.2), which is wrong by any measure",
        "the [applicant] lost his case (see paragraph 3, original emphasis)",
        "p < 0.05 and q > 0.1",
        "the authors violated the principle of proportionality",
        "the mass (a mistake in its reading aside) was 39 mm",
        "a biased sample, and a mistake in the sums (n = 3)",
    ],
)
def test_ordinary_words_are_not_leak_markers(new: str) -> None:
    assert find_leak_marker("the mass was 36 mm", new) is None


def test_text_of_the_reference_is_not_a_leak_marker() -> None:
    assert find_leak_marker("**Imaging:** a mass (sic) of 36 mm", "**Imaging:** a mass (sic) of 39 mm") is None
