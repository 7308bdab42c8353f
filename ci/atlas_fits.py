# SPDX-License-Identifier: Apache-2.0
"""Whether rows of a source of the atlas fit a GPU, by a plan and where they were measured
(atlas/README.md)."""
from dataclasses import dataclass

from atlas_source import Source

FIGURE = "fits"  # in the results, beside those of atlas_source.WHAT
SAID = {"yes": True, "no": False}


@dataclass
class Verdict:
    row: dict
    peak: int  # reserved bytes, up to where memory ran out
    did_fit: bool
    is_planned_to: bool

    @property
    def is_right(self) -> bool:
        return self.did_fit == self.is_planned_to


def said(fits: bool) -> str:
    return "yes" if fits else "no"


def words(planned: str, did: str) -> str:
    return f"planned to fit: {planned}, did: {did}"


def verdicts_of(source: Source, answers: list) -> list:
    """Of the rows that have a plan, and of which the source says whether they fit."""
    column = source.facts.get("fits", {}).get("column", "")
    by_key = {answer["key"]: answer for answer in answers if not answer["failure"]}
    return [Verdict(row, by_key[row["key"]].get("peak_reserved_bytes", 0), SAID[row[column]],
                    by_key[row["key"]]["fits"])
            for row in source.rows if row.get(column) and row["key"] in by_key]


def counts_of(verdicts: list) -> dict:
    """How many did fit and did not, and of how many of these a plan says so."""
    counts = {}
    for did in (True, False):
        mine = [one for one in verdicts if one.did_fit == did]
        counts[f"did_{said(did)}"] = len(mine)
        counts[f"right_{said(did)}"] = sum(one.is_right for one in mine)
    return counts if verdicts else {}
