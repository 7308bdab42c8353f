# SPDX-License-Identifier: Apache-2.0
"""What a program would take on a GPU, with no GPU."""
import json
import subprocess

from headroom_torch.program import PROGRAM

DOES_NOT_FIT = 5


class NotPlanned(Exception):
    """`exit_code` is that of `headroom plan`; `output` is all that it and the program printed."""

    def __init__(self, exit_code: int, output: str):
        lines = output.strip().splitlines()
        super().__init__(f"exit code {exit_code}: {lines[-1] if lines else 'it says nothing'}")
        self.exit_code = exit_code
        self.output = output


def plan(command: list, **options) -> dict:
    """Gives what `headroom plan --json -- COMMAND` says. `options` are that command's: gpu="t4" is
    --gpu t4, gpu_memory="8GiB" is --gpu-memory 8GiB, explain=True is --explain.

    Of a program for which memory ran out, "fits" is False. Raises NotPlanned where it failed for
    another reason, or the call is wrong."""
    if isinstance(command, str):
        raise TypeError('command: a list of words, as in ["python", "train.py"]')
    words = [PROGRAM, "plan", "--json"]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    ended = subprocess.run([*words, "--", *map(str, command)], capture_output=True, text=True)
    if ended.returncode not in (0, DOES_NOT_FIT):
        raise NotPlanned(ended.returncode, ended.stderr)
    return json.loads(ended.stdout)
