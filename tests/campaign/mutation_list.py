# SPDX-License-Identifier: Apache-2.0
"""The bugs of mutations.txt."""
import dataclasses
import re
import sys

from part import ROOT

LIST = ROOT / "tests/campaign/mutations.txt"


@dataclasses.dataclass
class Mutation:
    number: int
    file: str
    harm: str
    old: str
    new: str

    def changed(self) -> str:
        """The text of the file, with the bug."""
        return (ROOT / self.file).read_text(encoding="utf-8").replace(self.old, self.new)


def read_list() -> list:
    """Ends the program where the list is wrong: each text has to stand once in its file."""
    text = "\n".join(line for line in LIST.read_text().splitlines() if not line.startswith("#"))
    mutations = []
    for number, entry in enumerate(filter(None, re.split(r"\n\n+", text.strip())), 1):
        head, *lines = entry.splitlines()
        file, _, harm = head.partition(": ")
        old = "\n".join(line[2:] for line in lines if line.startswith("- "))
        new = "\n".join(line[2:] for line in lines if line.startswith("+"))
        where = f"{LIST.name}: number {number}, {file}"
        if not harm or not old or old == new or any(line[0] not in "-+" for line in lines):
            sys.exit(f"{where}: expected FILE: HARM, then lines of '- ' and of '+ '")
        path = ROOT / file
        found = path.read_text(encoding="utf-8").count(old) if path.is_file() else 0
        if found != 1:
            sys.exit(f"{where}: its text is there {found} times, and has to be there once")
        mutations.append(Mutation(number, file, harm, old, new))
    return mutations
