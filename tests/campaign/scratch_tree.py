# SPDX-License-Identifier: Apache-2.0
"""A copy of the project that is built on its own, so that a file can be changed in it."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from part import ROOT

# Libraries file by file, as one of them changes; tests in the batches that a cache may hold.
OPTIONS = ["-DCMAKE_UNITY_BUILD=OFF", "-DHEADROOM_TESTS_IN_BATCHES=ON", "-DHEADROOM_BENCHMARKS=OFF"]
PROGRAM = re.compile(r"^(\w+_test): CXX_EXECUTABLE_LINKER", re.MULTILINE)
FAILED_ENTRY = re.compile(r"^\s*\d+ - (\S+) \((?!Not Run)", re.MULTILINE)
FAILED_TEST = re.compile(r"\[  FAILED  \] ([\w/]+\.[\w/]+)")
STARTED_TEST = re.compile(r"\[ RUN      \] ([\w/]+\.[\w/]+)")


# Entries of ctest that build trees of their own, for minutes.
BUILDS_TREES = re.compile("^(adding$|campaign_)")


class BuildFailed(Exception):
    """What the compiler said."""


def tracked() -> list:
    call = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()


class ScratchTree:
    def __init__(self, folder: Path):
        """Makes the copy, or brings it up to date. What did not change keeps its time."""
        self.folder = folder
        self.build_folder = folder / "build/dev"
        jobs = subprocess.run([ROOT / "ci/jobs"], capture_output=True, text=True, check=True)
        self.jobs = jobs.stdout.strip()
        texts = {name: (ROOT / name).read_bytes() for name in tracked() if (ROOT / name).is_file()}
        for stale in (path for path in folder.rglob("*") if path.is_file()):
            name = stale.relative_to(folder)
            if name.as_posix() not in texts and name.parts[0] not in ("build", ".deps"):
                stale.unlink()
        for name, text in texts.items():
            self.write(name, text)
            (folder / name).chmod((ROOT / name).stat().st_mode)
        if not (folder / ".deps").exists():
            (folder / ".deps").symlink_to(ROOT / ".deps")
        root = os.environ.get("LIBTORCH_ROOT")
        self._run("cmake", "--preset", "dev", *OPTIONS, *[f"-DLIBTORCH_ROOT={root}"] * bool(root))
        # Of each test program: the files and targets that it is made of.
        self._inputs = {program: self._ninja("inputs", program).splitlines()
                        for program in PROGRAM.findall(self._ninja("targets", "all"))}

    def write(self, name: str, text: bytes):
        path = self.folder / name
        if not path.exists() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)

    def build(self, *targets: str):
        self._run("cmake", "--build", "build/dev", "--parallel", self.jobs, "--target", *targets)

    def programs_of(self, name: str) -> list:
        """The test programs that a source file is a part of, or of a program that they start: that
        of its own folder first, then those that are made of less."""
        object_file = self._object_of(name)
        own = Path(name).parent.name + "_test"
        known = [program for program, inputs in self._inputs.items() if object_file in inputs]
        return sorted(known, key=lambda program: (program != own, len(self._inputs[program])))

    def script_entries(self) -> list:
        """The entries of ctest that are no test program: they look at scripts and kept results."""
        call = ["ctest", "--test-dir", self.build_folder, "--show-only=json-v1"]
        answer = subprocess.run(call, capture_output=True, text=True, check=True).stdout
        commands = {test["name"]: test.get("command", [""]) for test in json.loads(answer)["tests"]}
        return [name for name, command in commands.items()
                if command[0] and Path(command[0]).name not in self._inputs
                and not BUILDS_TREES.match(name)]

    def failing_test(self, entries: str):
        """Runs the entries of ctest whose names match, until one fails: (entry, the test in it);
        None: all pass."""
        call = ["ctest", "--test-dir", "build/dev", "--tests-regex", entries, "--stop-on-failure"]
        call += ["--output-on-failure", "--no-tests=error", "--parallel", self.jobs]
        ended = subprocess.run(call, cwd=self.folder, capture_output=True, text=True)
        if ended.returncode == 0:
            return None
        entry = FAILED_ENTRY.search(ended.stdout)
        assert entry, ended.stdout[-3000:] + ended.stderr[-3000:]
        tests = FAILED_TEST.findall(ended.stdout) or STARTED_TEST.findall(ended.stdout)[-1:]
        return entry[1], tests[0] if tests else ""

    def _object_of(self, name: str) -> str:
        commands = json.loads((self.build_folder / "compile_commands.json").read_text())
        path = str(self.folder / name)
        compiled = [entry["command"] for entry in commands if entry["file"] == path]
        return re.search(r" -o (\S+)", compiled[0])[1] if compiled else ""

    def _ninja(self, tool: str, *arguments: str) -> str:
        call = ["ninja", "-C", self.build_folder, "-t", tool, *arguments]
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout

    def _run(self, *call: str):
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.folder)}
        if shutil.which("ccache"):
            environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
        here = {"cwd": self.folder, "env": environment}
        ended = subprocess.run(call, **here, capture_output=True, text=True)
        if ended.returncode != 0:
            raise BuildFailed(ended.stdout[-20000:] + ended.stderr[-5000:])
