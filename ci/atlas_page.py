# SPDX-License-Identifier: Apache-2.0
"""Writes what the atlas found: rows of each source as CSV, and one page with a picture."""
import csv
import json
from pathlib import Path

from atlas_judge import Judged, counts, others_errors, spread
from atlas_source import Source

OPEN = 0.10  # errors above it have a cause, or are listed as open
COLUMNS = ("key", "figure", "planned_bytes", "measured_bytes", "error", "note", "cause")


def write_rows(source: Source, judged: list, constants: dict, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    others = [other.what for other in source.others]
    with open(out / f"{source.name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS + tuple(f"{other}_bytes" for other in others))
        for one in judged:
            error = "" if one.error is None else f"{one.error:.5f}"
            cause = source.cause_of(one.row) if counts(one) and abs(one.error) > OPEN else ""
            writer.writerow([one.row["key"], one.what, round(one.planned), round(one.measured), error,
                             one.note, cause] +
                            [round(one.others[other]) if one.others[other] else ""
                             for other in others])
    facts = {"source": source.name, "constants_bytes": {
        column: round(constant) for column, constant in constants.items()}, "figures": {}}
    for what in dict.fromkeys(one.what for one in judged):
        mine = [one for one in judged if one.what == what]
        facts["figures"][what] = spread([one.error for one in mine if counts(one)]) | {
            "notes": notes_of(mine)}
    if source.others:
        facts["others"] = {name: spread(errors)
                           for name, errors in others_errors(source, judged).items()}
    (out / f"{source.name}.json").write_text(json.dumps(facts, indent=1) + "\n")


def notes_of(judged: list) -> dict:
    notes = {}
    for one in judged:
        if one.note:
            note = one.note.split(":")[0]
            notes[note] = notes.get(note, 0) + 1
    return notes


def summary(source: Source, judged: list) -> str:
    texts = []
    for what in dict.fromkeys(one.what for one in judged):
        found = spread([one.error for one in judged if one.what == what and counts(one)])
        if found:
            texts.append(f"{what}: {found['rows']} rows, median {100 * found['median']:.2f} %, "
                         f"p90 {100 * found['p90']:.2f} %, worst {100 * found['worst']:.1f} %, "
                         f"within 5 % {100 * found['within_5']:.1f} %")
    return f"{source.name}: " + "; ".join(texts or ["nothing to compare"])


def write_page(out: Path) -> None:
    pass
