# SPDX-License-Identifier: Apache-2.0
"""The picture of the atlas: planned against measured, of all rows of all sources, as SVG."""
import math

SIZE, LEFT, BOTTOM, TOP = 640, 76, 56, 20
COLOURS = {"allocated": "#1b7f5c", "reserved": "#2b5fb8", "driver": "#b8532b"}
LOWEST, HIGHEST = 10 * 2**20, 160 * 2**30  # bytes, on both axes
TICKS = ((2**20 * 10, "10 MiB"), (2**20 * 100, "100 MiB"), (2**30, "1 GiB"), (2**30 * 10, "10 GiB"),
         (2**30 * 100, "100 GiB"))


def place(figure: float) -> float:
    """0 to 1 along an axis, which is logarithmic."""
    span = math.log(HIGHEST / LOWEST)
    return math.log(min(max(figure, LOWEST), HIGHEST) / LOWEST) / span


def x_of(figure: float) -> float:
    return LEFT + place(figure) * (SIZE - LEFT - TOP)


def y_of(figure: float) -> float:
    return SIZE - BOTTOM - place(figure) * (SIZE - BOTTOM - TOP)


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{words}</text>'


def svg(width: int, height: int, parts: list) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="12" fill="#222">'
            f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n')


def axes() -> list:
    parts = []
    for tick, name in TICKS:
        parts += [line(x_of(tick), TOP, x_of(tick), SIZE - BOTTOM, 'stroke="#ddd"'),
                  line(LEFT, y_of(tick), SIZE - TOP, y_of(tick), 'stroke="#ddd"'),
                  text(x_of(tick), SIZE - BOTTOM + 18, name),
                  text(LEFT - 8, y_of(tick) + 4, name, "end")]
    parts.append(text((LEFT + SIZE) / 2, SIZE - 14, "measured"))
    parts.append(text(16, SIZE / 2, "planned", more=f'transform="rotate(-90 16 {SIZE / 2:.0f})"'))
    for factor, style in ((1, 'stroke="#333"'), (1.1, 'stroke="#999" stroke-dasharray="4 3"'),
                          (1 / 1.1, 'stroke="#999" stroke-dasharray="4 3"')):
        parts.append(line(x_of(LOWEST * 1.1), y_of(LOWEST * 1.1 * factor), x_of(HIGHEST / 1.1),
                          y_of(HIGHEST / 1.1 * factor), style))
    return parts


def picture(points: list) -> str:
    """`points`: (kind of figure, measured bytes, planned bytes) of each row that counts."""
    parts = axes()
    for kind, measured, planned in points:
        parts.append(f'<circle cx="{x_of(measured):.1f}" cy="{y_of(planned):.1f}" r="1.8" '
                     f'fill="{COLOURS[kind]}" fill-opacity="0.55"/>')
    for at, kind in enumerate(kind for kind in COLOURS if kind in {point[0] for point in points}):
        y = TOP + 18 + 20 * at
        parts.append(f'<circle cx="{LEFT + 16}" cy="{y - 4}" r="5" fill="{COLOURS[kind]}"/>')
        parts.append(text(LEFT + 28, y, kind if kind != "driver" else "driver (nvidia-smi)",
                          "start"))
    parts.append(text(SIZE - TOP - 4, SIZE - BOTTOM - 10, "dashed: 10 %", "end"))
    return svg(SIZE, SIZE, parts)
