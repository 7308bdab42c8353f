# SPDX-License-Identifier: Apache-2.0
"""What was planned of a source of the atlas: a JSON object a row. It lies beside the results, so
that a call goes on where the last one ended, be it on another machine, and the comparison can be
done again with no plan."""
import hashlib
import json
import threading
from pathlib import Path

from atlas_source import Source

MADE_OF = ("environment", "program", "variables", "ranks")


def fingerprint(source: Source) -> str:
    """Of what a plan is made of, beside headroom: with another program all is planned anew."""
    files = sorted(source.program_folder.rglob("*.py")) + source.gpu_files
    texts = [file.read_text() for file in files]
    texts += [repr([source.facts.get(name) for name in MADE_OF])]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class Journal:
    def __init__(self, source: Source, folder: Path):
        self.file = folder / f"{source.name}.plans.jsonl"
        self.made_of = fingerprint(source)
        self.keys = [row["key"] for row in source.rows]
        self.lock = threading.Lock()
        self.answers = {}  # by the row's key; the last of a row holds
        if self.file.is_file():
            for line in self.file.read_text().splitlines():
                answer = json.loads(line)
                if answer["of"] == self.made_of:
                    self.answers[answer["key"]] = answer

    def lacks(self, key: str) -> bool:
        """Whether the row has no plan. One that failed is tried again."""
        return key not in self.answers or bool(self.answers[key]["failure"])

    def forget(self, keys: list) -> None:
        for key in keys:
            self.answers.pop(key, None)

    def add(self, answers: list) -> None:
        with self.lock:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with open(self.file, "a") as file:
                for answer in answers:
                    answer["of"] = self.made_of
                    self.answers[answer["key"]] = answer
                    file.write(json.dumps(answer) + "\n")

    def tidy(self) -> None:
        """In the order of the rows, and nothing of other programs."""
        lines = [json.dumps(self.answers[key]) + "\n" for key in self.keys if key in self.answers]
        if lines:
            new = self.file.with_suffix(".new")
            new.write_text("".join(lines))
            new.replace(self.file)
