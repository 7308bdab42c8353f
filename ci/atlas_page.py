# SPDX-License-Identifier: Apache-2.0
"""Writes what the atlas found: rows of each source as CSV, and one page with a picture."""
import csv
import json
from pathlib import Path

import atlas_fits
import atlas_groups
from atlas_judge import OF_THE_TENTH, counts, others_errors, spread
from atlas_picture import picture
from atlas_source import Source

GATED = 0.005  # a row may be as much further off: reserved memory moves with the host's pace
OPEN = 0.10  # errors above it have a cause, or are listed as open
OPEN_TIME = 0.25  # of the times of steps
# Bytes; of steps nanoseconds.
COLUMNS = ("key", "figure", "peak", "planned", "measured", "error", "lower", "upper", "note",
           "cause")


def write_rows(source: Source, judged: list, verdicts: list, constants: dict, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    others = [other.what for other in source.others]
    with open(out / f"{source.name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS + tuple(f"{other}_bytes" for other in others))
        for one in judged:
            error = "" if one.error is None else f"{one.error:.5f}"
            is_far = counts(one) and abs(one.error) > bound_of(one.what)
            cause = source.cause_of(one.row, one.is_inside) if is_far else ""
            figures = [round(figure) for figure in (one.peak, one.planned, one.measured)]
            estimates = [round(one.others[other]) if one.others[other] else "" for other in others]
            writer.writerow([one.row["key"], one.what, *figures, error, *one.interval,
                             one.note, cause, *estimates])
        for one in verdicts:
            cause = "" if one.is_right else source.cause_of(one.row, False)
            writer.writerow([one.row["key"], atlas_fits.FIGURE, one.peak,
                             atlas_fits.said(one.is_planned_to), atlas_fits.said(one.did_fit),
                             "", "", "", "", cause, *([""] * len(others))])
    facts = {"source": source.name, "rows": len(source.rows), "constants_bytes": {
        column: round(constant) for column, constant in constants.items()}, "figures": {}}
    for what in dict.fromkeys(one.what for one in judged):
        mine = [one for one in judged if one.what == what]
        facts["figures"][what] = spread([one.error for one in mine if counts(one)]) | {
            "notes": notes_of(mine)}
        inside = [one.is_inside for one in mine if counts(one) and one.interval[0]]
        if inside and what == "step":
            facts["figures"][what]["inside"] = sum(inside) / len(inside)
    if counted := atlas_fits.counts_of(verdicts):
        facts[atlas_fits.FIGURE] = counted
    if source.others:
        facts["others"] = {name: spread(errors)
                           for name, errors in others_errors(source, judged).items()}
    (out / f"{source.name}.json").write_text(json.dumps(facts, indent=1) + "\n")
    if groups := atlas_groups.errors_by_group(source, judged):
        (out / f"{source.name}.svg").write_text(atlas_groups.picture(groups))


def bound_of(what: str) -> float:
    return OPEN_TIME if what == "step" else OPEN


def notes_of(judged: list) -> dict:
    notes = {}
    for one in judged:
        if one.note:
            note = one.note.split(":")[0]
            notes[note] = notes.get(note, 0) + 1
    return notes


def kept_constants(source: Source, out: Path) -> dict:
    """None where nothing of the source is kept."""
    file = out / f"{source.name}.json"
    return json.loads(file.read_text())["constants_bytes"] if file.is_file() else {}


def further_off(source: Source, judged: list, verdicts: list, out: Path) -> list:
    """What the gate says of rows whose error is larger than the one that lies in `out`, or of which
    a plan said rightly there whether they fit. A row that did not train where it was measured has
    no error that means anything."""
    file = out / f"{source.name}.csv"
    kept = {(row["key"], row["figure"]): row for row in rows_of(file)} if file.is_file() else {}
    lines = []
    for one in judged:
        old = kept.get((one.row["key"], one.what), {}).get("error")
        trained = counts(one) or one.note == OF_THE_TENTH
        if old and trained and abs(one.error) > abs(float(old)) + GATED:
            lines.append(f"{one.row['key']}, {one.what}: off by {per_cent(one.error, 2)}, "
                         f"was {per_cent(float(old), 2)}")
    for one in verdicts:
        old = kept.get((one.row["key"], atlas_fits.FIGURE), {})
        if not one.is_right and old and old["planned"] == old["measured"]:
            verdict = atlas_fits.words(atlas_fits.said(one.is_planned_to),
                                       atlas_fits.said(one.did_fit))
            lines.append(f"{one.row['key']}: {verdict}")
    return lines


def summary(source: Source, judged: list, verdicts: list) -> str:
    texts = []
    for what in dict.fromkeys(one.what for one in judged):
        found = spread([one.error for one in judged if one.what == what and counts(one)])
        if found:
            texts.append(f"{what}: {found['rows']} rows, median {100 * found['median']:.2f} %, "
                         f"p90 {100 * found['p90']:.2f} %, worst {100 * found['worst']:.1f} %, "
                         f"within 5 % {100 * found['within_5']:.1f} %")
    if verdicts:
        texts.append(f"fits or not: {sum(one.is_right for one in verdicts)} of {len(verdicts)} "
                     "right")
    return f"{source.name}: " + "; ".join(texts or ["nothing to compare"])


def per_cent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def line_of(name: str, what: str, rows: int, found: dict) -> str:
    cells = [name, what, f"{found['rows']:,} of {rows:,}", per_cent(found["median"], 2),
             per_cent(found["p90"]), per_cent(found["worst"])]
    cells += [per_cent(found[f"within_{bound}"]) for bound in (1, 2, 5, 10)]
    return "| " + " | ".join(cells) + " |"


def rows_of(file: Path) -> list:
    with open(file, newline="") as lines:
        return list(csv.DictReader(lines))


def has_error(row: dict) -> bool:
    return row["error"] != "" and row["note"] == ""


def write_page(out: Path) -> None:
    """README.md of all sources that lie there, those of earlier calls among them, and atlas.svg."""
    out.mkdir(parents=True, exist_ok=True)
    lines = ["# Planned against measured", "", "Written by `ci/atlas`; docs/atlas.md says what it "
             "means. Errors are planned / measured - 1, without sign. Of the rows of a source "
             "those count that are planned and not listed below.", "",
             "| source | figure | rows | median | p90 | worst | within 1 % | 2 % | 5 % | 10 % |",
             "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |"]
    far, notes, points, times, fits = [], [], [], [], []
    for file in sorted(out.glob("*.json")):
        facts = json.loads(file.read_text())
        name = facts["source"]
        for what, found in facts["figures"].items():
            if "rows" in found:
                (times if what == "step" else lines).append(
                    line_of(name, what, facts["rows"], found))
            if "inside" in found:
                times[-1] += f" {per_cent(found['inside'])} |"
            notes += [f"- {name}, {what}: {count:,} rows: {note}"
                      for note, count in found["notes"].items()]
        for other, found in facts.get("others", {}).items():
            if found:
                lines.append(line_of(f"{name}, by {other}", "", facts["rows"], found))
        if found := facts.get(atlas_fits.FIGURE):
            fits.append(f"| {name} | {found['did_yes']} | {found['right_yes']} | "
                        f"{found['did_no']} | {found['right_no']} |")
        for row in rows_of(file.with_suffix(".csv")):
            if row["figure"] == atlas_fits.FIGURE and row["planned"] != row["measured"]:
                verdict = atlas_fits.words(row["planned"], row["measured"])
                far.append(f"| {name} | {row['key']} | {verdict} | | {row['cause'] or 'open'} |")
        for row in filter(has_error, rows_of(file.with_suffix(".csv"))):
            if row["figure"] != "step":
                points.append((row["figure"], int(row["measured"]), int(row["planned"])))
            if abs(float(row["error"])) > bound_of(row["figure"]):
                far.append(f"| {name} | {row['key']} | {row['figure']} | "
                           f"{per_cent(float(row['error']))} | {row['cause'] or 'open'} |")
    if times:
        lines += ["", "Times of steps, estimated; the last column: rows inside of the interval.",
                  "", "| source | figure | rows | median | p90 | worst | within 1 % | 2 % | 5 % | "
                  "10 % | inside |",
                  "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |", *times]
    if fits:
        lines += ["", "Whether rows fit the GPU's memory, where they ran and by a plan.", "",
                  "| source | fit there | of these planned to | did not fit there | "
                  "of these planned not to |", "| --- | --: | --: | --: | --: |", *fits]
    lines += ["", "![planned against measured](atlas.svg)", ""]
    lines += [f"Errors of {file.stem}, signed: the median, and the tenth to the ninetieth "
              f"percentile.\n\n![errors of {file.stem}]({file.name})\n"
              for file in sorted(out.glob("*.svg")) if file.name != "atlas.svg"]
    lines += ["Rows that do not count:", "",
              *notes, "", f"Rows that are off by more than {per_cent(OPEN, 0)}, or of times "
              f"{per_cent(OPEN_TIME, 0)}:", "",
              "| source | row | figure | error | cause |", "| --- | --- | --- | --: | --- |", *far]
    (out / "README.md").write_text("\n".join(lines) + "\n")
    (out / "atlas.svg").write_text(picture(points))
