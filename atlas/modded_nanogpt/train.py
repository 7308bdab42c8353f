# SPDX-License-Identifier: Apache-2.0
"""Runs a record of modded-nanogpt. Its log begins with the text of the program that wrote it: that is
fetched from the source's repository and run as it stands, but for the number of steps, and for
Inductor's tuning of blocks by time, which takes half an hour. The tokens are of no meaning: documents
of equal length, in which each token is as frequent as a text's, by Zipf's law.

    train.py REPOSITORY COMMIT LOG
"""
import fcntl
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy

STEPS = 40
END_OF_PROGRAM = re.compile(r"^={100}$", re.MULTILINE)
NUMBER_OF_STEPS = re.compile(r"(\bnum_iterations\s*(?::\s*int\s*)?=\s*)\d+")
TUNING = re.compile(r"(\bcoordinate_descent_tuning\s*=\s*\(?\s*)True")
TOKENS = 100_000_000  # of a file, as the source's have them
FIRST_OF_DOCUMENT, DOCUMENT = 50256, 1024
DIFFERENT = 1 << 20  # tokens, before they come again
HEADER = (20240520, 1, TOKENS)  # of 256 numbers
CACHE = Path(os.environ["XDG_CACHE_HOME"]) / "modded_nanogpt"


def git(*words) -> str:
    alone = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run(["git", *words], env=alone, check=True, capture_output=True,
                          text=True).stdout


def program(repository: str, commit: str, log: str) -> str:
    clone = CACHE / "repository"
    if not clone.is_dir():
        git("clone", "--quiet", "--bare", "--filter=blob:none", repository, str(clone))
    text = git("-C", str(clone), "show", f"{commit}:{log}")
    text = text[:END_OF_PROGRAM.search(text).start()]
    text, count = NUMBER_OF_STEPS.subn(rf"\g<1>{STEPS}", text, count=1)
    assert count == 1
    return TUNING.sub(r"\g<1>False", text)


def make_tokens() -> Path:
    folder = CACHE / "texts/fineweb10B"
    if not folder.is_dir():
        folder.mkdir(parents=True)
        header = numpy.zeros(256, dtype=numpy.int32)
        header[:len(HEADER)] = HEADER
        frequency = 1 / numpy.arange(1, FIRST_OF_DOCUMENT + 1)
        some = numpy.random.default_rng(0).choice(FIRST_OF_DOCUMENT, DIFFERENT,
                                                  p=frequency / frequency.sum())
        tokens = numpy.resize(some.astype(numpy.uint16), TOKENS)
        tokens[::DOCUMENT] = FIRST_OF_DOCUMENT
        (folder / "fineweb_val_000000.bin").write_bytes(header.tobytes() + tokens.tobytes())
        for number in (1, 2, 3):
            (folder / f"fineweb_train_{number:06}.bin").symlink_to("fineweb_val_000000.bin")
    return folder.parent


def main() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # rows are planned beside one another
        text, data = program(*sys.argv[1:4]), make_tokens()
    run = Path("run")
    run.mkdir(exist_ok=True)
    for place in (Path("data"), run / "data"):  # some programs lie a folder deeper than their tokens
        place.unlink(missing_ok=True)  # an earlier plan's
        place.symlink_to(data)
    os.chdir(run)
    Path("train_gpt.py").write_text(text)
    Path("logs/final").mkdir(parents=True, exist_ok=True)  # where one writes without making it
    sys.argv = ["train_gpt.py"]
    runpy.run_path("train_gpt.py", run_name="__main__")


main()
