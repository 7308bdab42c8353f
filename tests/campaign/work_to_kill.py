# SPDX-License-Identifier: Apache-2.0
"""What is killed: calls of headroom that fill results folders."""
import dataclasses
from pathlib import Path

FAKE_CASES = """
  - {name: vanilla}
  - {name: segv, model: {name: segv}}
  - {name: exact, techniques: [exact]}
  - {name: shifted, techniques: [{exact: {loss_shift: 1.0}}]}
  - {name: full, model: {name: out_of_memory}}
"""
RANK_CASES = """
  - {name: two, techniques: [ddp]}
  - {name: four, ranks: 4, model: {name: together_hang}, techniques: [ddp]}
  - {name: torn, ranks: 3, model: {name: segv, on_rank: 1}, techniques: [ddp]}
  - {name: alone, ranks: 1, model: {name: ok}}
  - {name: unjoined}
"""
REAL_CASES = """
  - {name: vanilla}
  - {name: sgd, techniques: [sgd]}
  - {name: fsdp, ranks: 2, techniques: [fsdp]}
"""  # the peak of ddp is not the same every time: docs/ranks.md


def fake_suite(name: str, cases: str, model: str = "ok", ranks: int = 1) -> str:
    return (f"suite: {name}\ndefaults: {{ranks: {ranks}, model: {{name: {model}}}, "
            f"data: {{name: digits}}, train: {{work_ms: 2}}}}\ncases:{cases}")


def real_suite(name: str) -> str:
    return (f"suite: {name}\ndefaults:\n  model: {{name: vit_ti_16}}\n"
            "  data: {name: digits, image_size: 32}\n  train: {batch_size: 2, steps: 1, "
            f"warmup_steps: 0, held_out_samples: 0}}\ncases:{REAL_CASES}")


@dataclasses.dataclass
class Work:
    name: str
    suites: dict               # the text of each, by its name
    launched: int = 0          # ranks that a launcher starts; 0: there is no launcher
    command: tuple = ("run",)
    is_real: bool = False      # else with the test worker

    def program(self, build: Path) -> Path:
        return build / ("headroom" if self.is_real else "headroom_with_test_catalog")

    def columns(self, row: dict) -> dict:
        """Those that do not differ from run to run."""
        if not self.is_real:
            return {name: cell for name, cell in row.items() if name != "started_at"}
        return {name: cell for name, cell in row.items()
                if name in ("case", "status", "reason", "parameters", "first_loss", "last_loss",
                            "fits") or (name.endswith("_bytes") and name.startswith(
                                ("run_peak", "peak_", "model_states", "driver_peak")))}


WORKS = [
    Work("alone", {"alone": fake_suite("alone", FAKE_CASES)}),
    Work("ranks", {"ranks": fake_suite("ranks", RANK_CASES, "together", ranks=2)}),
    Work("several", {name: fake_suite(name, FAKE_CASES) for name in ("first", "second")}),
    Work("launched", {"launched": fake_suite("launched", RANK_CASES, "together", ranks=2)},
         launched=3),
    Work("real", {"real": real_suite("real")}, command=("run", "--device", "cpu"), is_real=True),
    Work("planned", {"planned": real_suite("planned")}, command=("plan",), is_real=True),
]
