#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The way of a maintainer: action.yml, run as a runner of GitHub would, in a repository of which
one commit makes a layer wider. The change is named on the job, and it fails.

    action_test.py HEADROOM

HEADROOM stands for the one that the action's first steps set up. Exit code 77: ci/bootstrap did not
install what the program needs.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".deps/python/bin"
PROGRAM = """import torch

net = torch.nn.Sequential(torch.nn.Linear(1024, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 8))
net.cuda()
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3):
    net(torch.ones(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def action() -> dict:
    sys.path.insert(0, str(ROOT / ".deps/programs"))
    import yaml
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def git(folder: Path, *words) -> str:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *settings, *words], cwd=folder, check=True, text=True,
                          capture_output=True).stdout.strip()


def commit(folder: Path, width: int) -> str:
    (folder / "train.py").write_text("# wide\n" * (width // 2048) +
                                     PROGRAM.replace("WIDTH", str(width)))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "a change")
    return git(folder, "rev-parse", "HEAD")


def run_action(folder: Path, headroom: str, inputs: dict) -> tuple:
    """Its steps that are commands, but for the one that builds headroom. Gives the exit code, what
    was printed, and the job's summary."""
    described = action()
    values = {name: one["default"] for name, one in described["inputs"].items()} | inputs
    summary = folder.parent / "summary.md"
    summary.unlink(missing_ok=True)
    for step in described["runs"]["steps"]:
        if step.get("name") != "Plan the change and its base":
            continue
        environment = {"PATH": f"{PYTHON}:{os.environ['PATH']}", "HOME": str(folder.parent),
                       "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(summary),
                       "HEADROOM": headroom, "HEADROOM_DRY_RUN_HOST_NS": "6000"}
        for name, text in step["env"].items():
            environment[name] = values[text.split("inputs.")[1].split(" ")[0]]
        ended = subprocess.run([step["shell"], "-e", "-c", step["run"]], cwd=folder, text=True,
                               env=environment, capture_output=True)
        return ended.returncode, ended.stdout + ended.stderr, \
            summary.read_text() if summary.exists() else ""
    raise AssertionError("action.yml has no step that plans")


def expect(condition: bool, what):
    if not condition:
        raise AssertionError(what)


def main():
    if not (ROOT / ".deps/programs/yaml").is_dir() or not PYTHON.is_dir():
        sys.exit(77)
    headroom = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "repository"
        folder.mkdir()
        git(folder, "init", "--quiet")
        narrow = commit(folder, 1024)
        wide = commit(folder, 2048)
        inputs = {"program": "python3 train.py", "arguments": "--gpu h100", "base": narrow}

        code, printed, summary = run_action(folder, headroom, inputs)
        expect(code == 1, printed)
        expect("::error title=program%3a program::run_peak_allocated_bytes: " in printed, printed)
        expect("%0aparameters +4.04 MiB, allocated at train.py:5 <module>%0a" in printed, printed)
        expect("**1 case: 1 worse**" in summary, summary)
        expect(git(folder, "worktree", "list").count("\n") == 0, "a worktree was left")

        code, printed, summary = run_action(folder, headroom, inputs | {"base": wide})
        expect(code == 0 and "::error" not in printed, printed)
        expect("1 case: 1 same" in summary, summary)

        code, printed, _ = run_action(folder, headroom, inputs | {"program": "python3 gone.py"})
        expect(code == 1 and "headroom::the change can't be planned" in printed, printed)
        code, printed, _ = run_action(folder, headroom, inputs | {"program": ""})
        expect(code == 2 and "give either suites or a program" in printed, printed)
        code, printed, _ = run_action(folder, headroom, inputs | {"base": "f" * 40})
        expect(code == 2 and "there is no commit" in printed, printed)


if __name__ == "__main__":
    main()
