#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/nightly: behind a run that ended early nothing more is measured; one in which every case has a
row goes on, though none of them can run here."""
import importlib.machinery
import importlib.util
import sys
import tempfile
from pathlib import Path

CI = Path(__file__).resolve().parents[2] / "ci"

# Lists two cases; measures those of the suite's text, and ends with 4.
PROGRAM = """#!/usr/bin/env python3
import sys
from pathlib import Path
if "--list-cases" in sys.argv:
    print('[{"name": "a"}, {"name": "b"}]')
    sys.exit(0)
out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True)
(out / "journal.jsonl").touch()
(out / "results.csv").write_text("suite,case\\n" + Path(sys.argv[2]).read_text())
sys.exit(4)
"""


def load():
    sys.path.insert(0, str(CI))
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("nightly", str(CI / "nightly"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("nightly", loader))
    loader.exec_module(module)
    return module


def main():
    nightly = load()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        program = root / "headroom"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        for rows, goes_on in {"s,a\ns,b\n": True, "s,a\n": False}.items():
            suite = root / "suite.yaml"
            suite.write_text(rows)
            try:
                nightly.measure(program, suite, root / f"out{goes_on}", ".")
                went_on = True
            except SystemExit as ended:
                assert ended.code == 4, ended.code
                went_on = False
            assert went_on == goes_on, rows


if __name__ == "__main__":
    main()
