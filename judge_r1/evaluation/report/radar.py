"""A radar chart as one SVG string: no library, no script, colours from the page that holds it."""

import math
from collections.abc import Mapping, Sequence
from html import escape

SIZE, RADIUS = 340, 116
RINGS = (0.25, 0.5, 0.75, 1.0)


def radar_chart(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], colours: Mapping[str, int]
) -> str:
    """An axis for each of at least three labels, 0 in the middle and 1 at the rim, one closed line a series, with the
    class `line cN`. The accessible name tells all values.

    Every series has a value in [0, 1] for each label.
    """
    if len(labels) < 3:
        raise ValueError(f"a radar needs three axes or more, not {len(labels)}")
    for name, values in series.items():
        if len(values) != len(labels) or not all(0 <= value <= 1 for value in values):
            raise ValueError(f"series {name!r} needs {len(labels)} values from 0 to 1")
    told = "; ".join(
        f"{name}: " + ", ".join(f"{label} {value:.3g}" for label, value in zip(labels, values, strict=True))
        for name, values in series.items()
    )
    parts = [f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{escape(f"{title}. {told}")}">']
    parts += [f'<polygon class="rule" fill="none" points="{_ring([ring] * len(labels))}"/>' for ring in RINGS]
    middle = SIZE / 2
    for number, label in enumerate(labels):
        x, y = _point(number, len(labels), 1.0)
        parts.append(f'<line class="rule" x1="{middle:.1f}" y1="{middle:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>')
        x, y = _point(number, len(labels), 1.12)
        anchor = "middle" if abs(x - middle) < 8 else "start" if x > middle else "end"
        parts.append(f'<text class="tick" x="{x:.1f}" y="{y + 3.5:.1f}" text-anchor="{anchor}">{escape(label)}</text>')
    for ring in RINGS[1::2]:
        y = _point(0, len(labels), ring)[1]
        parts.append(f'<text class="tick" x="{middle + 3:.1f}" y="{y + 10:.1f}">{ring:g}</text>')
    for name, values in series.items():
        points = _ring(values)
        parts.append(
            f'<polygon class="line c{colours[name]}" points="{points}"><title>{escape(name)}</title></polygon>'
        )
        for x, y in (_point(number, len(values), value) for number, value in enumerate(values)):
            parts.append(f'<circle class="dot c{colours[name]}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>')
    return "".join([*parts, "</svg>"])


def _ring(values: Sequence[float]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in (_point(n, len(values), value) for n, value in enumerate(values)))


def _point(number: int, count: int, value: float) -> tuple[float, float]:
    """The first axis points up, the others follow clockwise."""
    angle = 2 * math.pi * number / count - math.pi / 2
    return SIZE / 2 + RADIUS * value * math.cos(angle), SIZE / 2 + RADIUS * value * math.sin(angle)
