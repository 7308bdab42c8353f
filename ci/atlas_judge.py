# SPDX-License-Identifier: Apache-2.0
"""Compares planned with measured figures of a source of the atlas (atlas/README.md)."""
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass

from atlas_source import Figure, Source, is_of_the_tenth

PLANNED = {"allocated": "peak_allocated_bytes", "reserved": "peak_reserved_bytes",
           "driver": "peak_reserved_bytes",  # and the constant
           "step": "step_time_estimate_ns"}
WITHIN = (0.01, 0.02, 0.05, 0.10)
SAME = 0.002  # two batches that are as near did not train
NEAR = 1.005  # of an interval: what lies outside the allocator is one number for all rows
NEARLY = 0.95  # of the GPU's memory: a program that took more ran out of it, or may have
NOT_FITTING = "does not fit, and did not there"
OF_THE_TENTH = "of the tenth"


@dataclass
class Judged:
    """A row and one figure of it. `error`: planned / measured - 1, None: it has no plan. `peak`:
    what was planned, before the constant."""
    row: dict
    what: str
    peak: float
    planned: float
    measured: float
    note: str = ""
    others: dict = None
    interval: tuple = ("", "")  # of the time of a step, or of what a sample may see

    @property
    def error(self) -> float:
        return self.planned / self.measured - 1 if self.planned and self.measured else None

    @property
    def is_inside(self) -> bool:
        lower, upper = self.interval
        near = NEAR if self.what == "driver" else 1
        return lower != "" and lower / near <= self.measured <= upper * near


def ended_early(source: Source, column: str) -> tuple:
    """Of sources that kept the figures of programs that failed or ran out of memory, which
    `batches` says: keys of rows with the same figure as another batch of the same model, so that
    neither trained; and of rows with less than a smaller batch, or nearly all of the GPU."""
    batches = source.facts.get("batches")
    if not batches:
        return set(), set()
    groups = defaultdict(list)
    for row in source.rows:
        groups[row[batches["of"]]].append(row)
    same, less = set(), set()
    for group in groups.values():
        group.sort(key=lambda row: float(row[batches["in"]]))
        figures = [float(row[column]) for row in group]
        for at, (row, figure) in enumerate(zip(group, figures)):
            rest = figures[:at] + figures[at + 1:]
            if any(abs(other / figure - 1) < SAME for other in rest):
                same.add(row["key"])
            if any(figure < other for other in figures[:at]):
                less.add(row["key"])
    return same, less


def constant_of(pairs: list) -> float:
    """Outside the allocator, of each process on a GPU: the median of the tenth's differences."""
    differences = [measured - planned for key, planned, measured in pairs if is_of_the_tenth(key)]
    return statistics.median(differences) if differences else 0


def contexts_of(figure: Figure, answer: dict) -> float:
    """How many processes take of a GPU, each of which the constant is of."""
    return answer.get("mean_contexts", 1) if figure.of_mean_gpu else 1


def interval_of(figure: Figure, answer: dict, constant: float) -> tuple:
    """Of samples: from the least that may be the peak behind the program's reset to that of all of
    it."""
    if figure.what == "step":
        return tuple(answer.get(f"step_time_estimate_{end}_ns", "") for end in ("lower", "upper"))
    if figure.what != "driver" or not figure.since_reset:
        return "", ""
    latest = answer.get("latest_peak_reserved_bytes", 0)
    lower = answer.get("latest_peak_reserved_lower_bytes", latest)
    return tuple(round(end + constant) for end in (lower, answer.get("peak_reserved_bytes", 0)))


def with_latest(answer: dict) -> dict:
    """Of a program that never began its peaks anew the latest are those of all."""
    peaks = {name: value for name, value in answer.items() if name.startswith("peak_")}
    return {f"latest_{name}": value for name, value in peaks.items()} | answer


def judge(source: Source, answers: list, fitted: dict = None) -> tuple:
    """All figures of all rows, and the constant of each kind of figure: `fitted`, where there are
    some, or of these rows."""
    by_key = {answer["key"]: with_latest(answer) for answer in answers}
    judged, constants = [], {}
    for figure in source.measured:
        same, less = ended_early(source, figure.column)
        name = "mean_driver_bytes" if figure.of_mean_gpu \
            else ("latest_" if figure.since_reset else "") + PLANNED[figure.what]
        known = [(row, by_key[row["key"]], figure.value_of(row),
                  contexts_of(figure, by_key[row["key"]])) for row in source.rows
                 if row["key"] in by_key and figure.value_of(row) is not None]
        of_context = 0
        if figure.what == "driver":
            pairs = [(row["key"], answer[name] / contexts, measured / contexts)
                     for row, answer, measured, contexts in known
                     if name in answer and answer["fits"] and row["key"] not in same]
            of_context = constants[figure.column] = (fitted or {}).get(
                figure.column, constant_of(pairs))
        for row, answer, measured, contexts in known:
            constant = of_context * contexts
            total = answer.get("total_bytes", 0)
            is_time = figure.what == "step"
            does_fit = answer["fits"] and (is_time or answer.get(name, 0) + constant <= total)
            planned = answer[name] + constant if name in answer else 0
            if not does_fit and not is_time:
                planned = max(planned, total)  # at least
            is_short = (row["key"] in same | less) or (not is_time and measured > NEARLY * total)
            if is_time and not planned and not answer["failure"]:
                note = "no step was timed"
            elif answer["failure"] or not planned:
                planned, note = 0, "no plan: " + answer["failure"]
            elif not does_fit and is_short:
                note = NOT_FITTING
            elif row["key"] in same:
                note = "did not train there"
            elif constant and is_of_the_tenth(row["key"]):
                note = OF_THE_TENTH
            else:
                note = ""
            others = {other.what: other.value_of(row) for other in source.others}
            judged.append(Judged(row, figure.what, answer.get(name, 0), planned, measured, note,
                                 others, interval_of(figure, answer, constant)))
    return judged, constants


def counts(one: Judged) -> bool:
    """Whether its error counts: the tenth was fitted to, and what did not train is no figure."""
    return one.error is not None and not one.note


def spread(errors: list) -> dict:
    """Of errors without their signs."""
    sizes = sorted(abs(error) for error in errors)
    if not sizes:
        return {}
    return {"rows": len(sizes), "median": statistics.median(sizes),
            "p90": sizes[math.ceil(0.9 * len(sizes)) - 1], "worst": sizes[-1],
            "bias": statistics.median(errors)} | {
                f"within_{round(100 * bound)}": sum(size <= bound for size in sizes) / len(sizes)
                for bound in WITHIN}


def others_errors(source: Source, judged: list) -> dict:
    """What others' estimators got on the rows that count. They know nothing of what lies outside
    the allocator either: each has a constant of its own, fitted on the same tenth."""
    answers = {}
    for other in source.others:
        pairs = [(one.row["key"], one.others[other.what], one.measured) for one in judged
                 if one.others.get(other.what) and (counts(one) or one.note == OF_THE_TENTH)]
        constant = constant_of(pairs)
        answers[other.what] = [(planned + constant) / measured - 1
                               for key, planned, measured in pairs if not is_of_the_tenth(key)]
    return answers
