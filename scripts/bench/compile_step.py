"""Measures what `torch.compile` gives the warm-up step of the demo: the same training without and with it, in turn.

    OMP_NUM_THREADS=1 python -m scripts.bench.compile_step

Each side has a process of its own. `step_s` are processor seconds of a step of 16 rationales, the median of the second
half of the steps, which compile nothing new unless the lengths of their rows do. `whole_s` are those of the whole
training with the compiler's processes.
"""

import tempfile
from pathlib import Path
from textwrap import dedent

from scripts.bench import compare
from scripts.bench.output import Row, parser_of, write_rows

_PROGRAM = f"""{compare.RATIONALES}{compare.TRAINING}
    import os
    from judge_r1.training.trl import common
    plain = common.common_arguments
    if sys.argv[3] == "with":
        common.common_arguments = lambda *args, **options: plain(*args, **options) | {{"torch_compile": True}}
    try:
        train("warmup", f"{{examples}}={{16 * int(sys.argv[4])}}", rationales=written)
    except Exception as error:  # a compiled model saves its weights under other names, which the training refuses
        print(type(error).__name__, str(error)[:80], file=sys.stderr)
    later = [after - before for before, after in zip(steps, steps[1:])][len(steps) // 2 :]
    print(statistics.median(later), sum(os.times()[:4]))
"""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--steps", type=int, default=12)
    options, rows = parser.parse_args(), list[Row]()
    with tempfile.TemporaryDirectory(prefix="compile-") as folder:
        data = Path(folder) / "data"
        compare.run(compare.ROOT, compare.DATA, str(data))
        for side in ("without", "with"):
            arguments = str(data), str(Path(folder) / side), side, str(options.steps)
            printed = compare.run(compare.ROOT, compare.BEGIN + dedent(_PROGRAM), *arguments).split()
            rows.append({"torch.compile": side, "step_s": float(printed[-2]), "whole_s": float(printed[-1])})
    write_rows(options.out, "compile_step", rows, vars(options))


if __name__ == "__main__":
    main()
