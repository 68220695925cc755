"""Measures the parsers on hostile answers: time per character, and whether it stays so when the text gets longer.

    python -m scripts.bench.hostile_text
    python -m scripts.bench.hostile_text --characters 1000 100000 --repeats 5

Each piece is repeated up to the length: open brackets, half tags, quotes, white space, answers within answers. `growth`
is the time per character of the longest text over that of the shortest: 1 for a parser of linear time. Times are
processor times, the least of the repeats. Every parser must return a judgment or a named rejection.
"""

import time
from collections.abc import Callable, Sequence

from judge_r1.core.verdicts import Judgment
from judge_r1.episode.parsing import Rejected, parse_strict, parse_table6, parse_tolerant
from judge_r1.episode.tags import TagScanner
from scripts.bench.output import Row, draw_lines, parser_of, write_rows

JSON = '{"comparison": "A>B", "violated_principles": [1]}'
PIECES = (
    "{", "[", '{"a":', '{"a":[', '"', "\\", "<", "</", "<think>", "<answer>", f"<answer>{JSON}", JSON, "```json ", " ",
    'comparison": "', "violated_principles [", "9.", "\U0001f600", "\x00", "A>B ",
)  # fmt: skip
PARSERS: dict[str, Callable[[str], Judgment | Rejected | None]] = {
    "strict": parse_strict,
    "tolerant": parse_tolerant,
    "table 6": parse_table6,
}


def scan(text: str) -> None:
    """Feeds a text to the scanner of tags as a model writes it: in pieces of four characters."""
    scanner = TagScanner()
    for start in range(0, len(text), 4):
        if scanner.push(text[start : start + 4]) is not None:
            scanner = TagScanner()


def nanoseconds(parse: Callable[[str], object], piece: str, characters: int, repeats: int) -> float:
    """Processor time per character."""
    text, spent = (piece * (characters // len(piece) + 1))[:characters], []
    for _ in range(repeats):
        started = time.process_time()
        found = parse(text)
        spent.append(time.process_time() - started)
        assert found is None or isinstance(found, Judgment | Rejected)
    return 1e9 * min(spent) / characters


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--characters", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    series: dict[str, list[tuple[float, float]]] = {}
    for name, parse in {**PARSERS, "tag scanner": scan}.items():
        worst: dict[int, tuple[float, str]] = {}
        growths: list[tuple[float, str]] = []
        for piece in PIECES:
            times = {size: nanoseconds(parse, piece, size, options.repeats) for size in options.characters}
            for size, spent in times.items():
                worst[size] = max(worst.get(size, (0.0, "")), (spent, piece))
            growths.append((times[max(times)] / max(times[min(times)], 1e-9), piece))
        slowest, largest = worst[max(worst)], max(growths)
        rows.append(
            {
                "parser": name, "slowest_ns_per_character": slowest[0], "on": repr(slowest[1]),
                "MB_per_s": 1000 / slowest[0], "largest_growth": largest[0], "growth_on": repr(largest[1]),
            }
        )  # fmt: skip
        series[name] = [(size, found[0]) for size, found in worst.items()]
    write_rows(options.out, "hostile_text", rows, vars(options))
    draw_lines(options.out / "hostile_text.svg", series, x="characters", y="slowest piece, ns per character")


if __name__ == "__main__":
    main()
