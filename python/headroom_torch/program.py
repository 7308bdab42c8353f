# SPDX-License-Identifier: Apache-2.0
"""The program headroom, which lies in this folder."""
import os
import sys
from pathlib import Path

PROGRAM = str(Path(__file__).resolve().parent / "headroom")


def main() -> None:
    """The console script: becomes the program."""
    os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])
