#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The way of a machine with no network and no compiler: ci/bundle packs a build with its LibTorch;
in a root folder that holds glibc's libraries, the bundle and nothing else, with no network and no
variables, headroom plans and trains as the build does.

    bundle_test.py BUILD_FOLDER

The bundle is a folder within the build's, where LibTorch's gigabytes can be linked. Exit code 77:
this machine lets nobody mount.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLIBC = ("ld-linux-x86-64", "libc", "libm", "libdl", "libpthread", "librt", "libutil")
LIBRARIES = "lib/x86_64-linux-gnu"  # where Debian's loader looks; others look in lib64
PLACE = "a place/headroom"  # with a space, as others' folders have
CONFIGS = f"/{PLACE}/share/headroom/configs"
GPU = "name: mine\nlike: h100\nmemory_bytes_per_second: 2.4e12\n"
IN_NAMESPACE = "--in-namespace"


def copy_glibc(root: Path) -> None:
    (root / "lib64").mkdir()
    (root / LIBRARIES).mkdir(parents=True)
    linked = subprocess.check_output(["ldd", sys.argv[1] + "/headroom-worker"], text=True)
    for word in linked.split():
        path = Path(word)
        if path.is_absolute() and path.name.split(".so")[0] in GLIBC:
            for folder in ("lib64", LIBRARIES):
                copy = root / folder / path.name
                copy.write_bytes(path.read_bytes())
                copy.chmod(0o755)


def make_root(root: Path, build: Path) -> None:
    copy_glibc(root)
    for folder in ("proc", "dev", "tmp", "a place"):
        (root / folder).mkdir()
    subprocess.run([ROOT / "ci/bundle", "--build", build, root / PLACE], check=True)
    subprocess.run(["mount", "--rbind", "/proc", root / "proc"], check=True)
    # Files alone: with the folder, what removes the root could remove the machine's devices.
    for name in ("null", "urandom"):
        (root / "dev" / name).touch()
        subprocess.run(["mount", "--bind", f"/dev/{name}", root / "dev" / name], check=True)
    (root / "mine.yaml").write_text(GPU)


def headroom(root: Path, *arguments, code: int = 0) -> str:
    """Runs the bundle's; gives what it says to whoever starts it."""
    def enter():
        os.chroot(root)
        os.chdir("/")

    ended = subprocess.run([f"/{PLACE}/bin/headroom", *arguments], env={}, preexec_fn=enter,
                           capture_output=True, text=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode == code, f"{arguments}: exit code {ended.returncode}\n{said}"
    return said


def check_plans(root: Path, build: Path, suite: str, case: str) -> None:
    """To the byte as the build plans it, for a GPU of one's own."""
    headroom(root, "plan", f"{CONFIGS}/{suite}.yaml", "--only", case, "--gpu", "/mine.yaml",
             "--out", f"/planned/{suite}")
    subprocess.run([build / "headroom", "plan", ROOT / f"configs/{suite}.yaml", "--only", case,
                    "--gpu", root / "mine.yaml", "--out", root / "here" / suite],
                   check=True, capture_output=True)
    compared = subprocess.run([build / "headroom", "compare", root / "here" / suite,
                               root / "planned" / suite], capture_output=True, text=True)
    # Cases that nobody chose are the same as well.
    assert re.fullmatch(r"(\d+) cases?: \1 same\n", compared.stdout), compared


def check_without_libtorch(root: Path) -> None:
    torch = root / PLACE / "lib/headroom/torch"
    torch.rename(torch.with_name("elsewhere"))
    said = headroom(root, "plan", f"{CONFIGS}/quickstart.yaml", "--out", "/none", code=4)
    assert f"/{PLACE}/lib/headroom/torch: there is no PyTorch or LibTorch" in said, said


def check(root: Path, build: Path) -> None:
    make_root(root, build)
    check_plans(root, build, "quickstart", "^bert_vanilla$")
    check_plans(root, build, "resnet_50", "^batch_32$")  # cuDNN says what its convolutions take
    headroom(root, "run", f"{CONFIGS}/quickstart.yaml", "--only", "^bert_vanilla$", "--device",
             "cpu", "--out", "/measured")
    headroom(root, "report", "/measured", "--out", "/page.html")
    check_without_libtorch(root)


def main() -> None:
    build = Path(sys.argv[1]).resolve()
    if sys.argv[2:] != [IN_NAMESPACE]:
        namespaces = ["unshare", "--mount", "--net"]
        namespaces += [] if os.geteuid() == 0 else ["--map-root-user"]
        if subprocess.run([*namespaces, "true"], capture_output=True).returncode != 0:
            sys.exit(77)
        os.execvp("unshare", [*namespaces, __file__, str(build), IN_NAMESPACE])
    with tempfile.TemporaryDirectory(dir=build) as folder:
        try:
            check(Path(folder), build)
        finally:
            for name in ("proc", "dev/null", "dev/urandom"):
                subprocess.run(["umount", "--lazy", Path(folder) / name])


if __name__ == "__main__":
    main()
