# SPDX-License-Identifier: Apache-2.0
"""Errors of the atlas by what the rows have in common, as `groups` of a source names it; as SVG."""
import re
import statistics

from atlas_judge import counts
from atlas_picture import line, svg, text
from atlas_source import Source

FEWEST = 10  # rows of a group
WIDTH, LEFT, RIGHT, TOP, STEP = 720, 230, 60, 34, 18
MOST = 0.2  # on the axis, either way


def group_of(row: dict, grouping: dict) -> str:
    """Empty: it is in none."""
    value = row[grouping["column"]]
    if "pattern" in grouping:
        found = re.match(grouping["pattern"], value)
        value = found.group(1) if found else ""
    for name, members in grouping.get("kinds", {}).items():
        if value in members:
            return name
    return grouping.get("else", value)


def errors_by_group(source: Source, judged: list) -> list:
    """(by what, group, errors) of those with enough rows."""
    found = []
    for grouping in source.facts.get("groups", ()):
        groups = {}
        for one in judged:
            if counts(one):
                groups.setdefault(group_of(one.row, grouping), []).append(one.error)
        large = [(name, errors) for name, errors in groups.items() if len(errors) >= FEWEST]
        is_number = all(name.isdigit() for name, _ in large)
        large.sort(key=lambda item: int(item[0]) if is_number else -len(item[1]))
        found += [(grouping["by"], name, errors) for name, errors in large]
    return found


def x_of(error: float) -> float:
    middle, half = (LEFT + WIDTH - RIGHT) / 2, (WIDTH - RIGHT - LEFT) / 2
    return middle + half * max(-1, min(1, error / MOST))


def picture(groups: list) -> str:
    """A line a group: from the tenth to the ninetieth percentile of its signed errors, and the
    median. `groups` as errors_by_group() gives them."""
    height = TOP + STEP * (len(groups) + len({by for by, _, _ in groups})) + 20
    parts = []
    for tick in (-0.2, -0.1, 0, 0.1, 0.2):
        colour = "#333" if tick == 0 else "#ddd"
        parts += [line(x_of(tick), TOP - 8, x_of(tick), height - 8, f'stroke="{colour}"'),
                  text(x_of(tick), TOP - 14, f"{100 * tick:+.0f} %")]
    y, last = TOP, ""
    for by, name, errors in groups:
        if by != last:
            y, last = y + STEP, by
            parts.append(text(12, y + 4, f"by {by}", "start", 'font-weight="bold"'))
        y += STEP
        tenths = statistics.quantiles(errors, n=10)
        parts += [text(LEFT - 12, y + 4, f"{name} ({len(errors)})", "end"),
                  line(x_of(tenths[0]), y, x_of(tenths[-1]), y, 'stroke="#b8532b" stroke-width="5" '
                       'stroke-opacity="0.5"'),
                  f'<circle cx="{x_of(statistics.median(errors)):.1f}" cy="{y}" r="4" '
                  'fill="#7a2f12"/>']
    return svg(WIDTH, height, parts)
