#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/atlas: which rows count, what is fitted on which, and what is said of them."""
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "ci"))

import atlas_fits  # noqa: E402
import atlas_judge  # noqa: E402
import atlas_page  # noqa: E402
import atlas_plan  # noqa: E402
import atlas_source  # noqa: E402
from atlas_source import Figure, Source, is_of_the_tenth  # noqa: E402

MIB = 2**20
TOTAL = 1000 * MIB


def key_of(model: str, batch: int) -> str:
    return f"{model}:{batch}"


def source_of(figures: dict, what: str = "driver") -> Source:
    """`figures`: MiB that were measured, by model and batch."""
    rows = [{"key": key_of(*name), "model": name[0], "batch": str(name[1]), "mib": str(mib)}
            for name, mib in figures.items()]
    facts = {"batches": {"of": "model", "in": "batch"}, "gpu": "a100-40gb"}
    return Source("made_up", facts, rows, [Figure(what, "mib", "MiB")], [])


def answer(name: tuple, mib: float, fits: bool = True) -> dict:
    return {"key": key_of(*name), "failure": "", "fits": fits, "total_bytes": TOTAL,
            "peak_allocated_bytes": mib * MIB, "peak_reserved_bytes": mib * MIB}


def expect(found, wanted, what: str):
    if found != wanted:
        sys.exit(f"{what}: {found}, expected {wanted}")


def notes(figures: dict, plans: dict, what: str = "driver") -> dict:
    judged, _ = atlas_judge.judge(source_of(figures, what), [
        answer(name, *plan) for name, plan in plans.items()])
    return {one.row["key"]: one.note for one in judged}


def test_rows_that_do_not_count():
    found = notes(
        {("a", 8): 100, ("a", 16): 300, ("a", 32): 200, ("b", 8): 50, ("b", 16): 50,
         ("c", 8): 990, ("c", 16): 400}, {
             ("a", 8): (90,), ("a", 16): (280,), ("a", 32): (800, False), ("b", 8): (60,),
             ("b", 16): (70,), ("c", 8): (900, False), ("c", 16): (380,)}, "reserved")
    expect(found, {
        "a:8": "", "a:16": "", "a:32": atlas_judge.NOT_FITTING, "b:8": "did not train there",
        "b:16": "did not train there", "c:8": atlas_judge.NOT_FITTING,
        "c:16": ""}, "notes")


def test_a_plan_that_wrongly_does_not_fit_is_a_miss():
    judged, _ = atlas_judge.judge(source_of({("a", 8): 500}, "reserved"), [
        answer(("a", 8), 700, False)])
    expect(judged[0].note, "", "note")
    expect(judged[0].error, 1.0, "error")  # the whole GPU, at least


def test_the_constant_comes_of_the_tenth_alone():
    names = [(f"m{number}", 8) for number in range(1, 200)]
    tenth = [name for name in names if is_of_the_tenth(key_of(*name))]
    if not 8 < len(tenth) < 35:
        sys.exit(f"{len(tenth)} of 199 rows are of the tenth")
    figures = {name: 100 + (70 if name in tenth else 90) for name in names}
    judged, constants = atlas_judge.judge(source_of(figures), [
        answer(name, 100) for name in names])
    expect(constants, {"mib": 70 * MIB}, "constant")
    expect({one.row["key"] for one in judged if one.note == atlas_judge.OF_THE_TENTH},
           {key_of(*name) for name in tenth}, "the tenth")
    counted = [one for one in judged if atlas_judge.counts(one)]
    expect(all(one.planned == one.measured - 20 * MIB for one in counted), True, "planned")


def test_spread():
    found = atlas_judge.spread([0.005, -0.015, 0.03, -0.08, 0.5])
    expect(found["median"], 0.03, "median")
    expect(found["worst"], 0.5, "worst")
    expect([found[f"within_{bound}"] for bound in (1, 2, 5, 10)], [0.2, 0.4, 0.6, 0.8], "shares")


def test_the_page_lists_what_is_far_off():
    source = source_of({("a", 8): 100, ("b", 8): 100, ("untrained", 8): 50, ("untrained", 16): 50},
                       "reserved")
    source.causes = [{"cause": "known", "keys": ["a:8"]}]

    def judge(a: float, b: float, untrained: float) -> tuple:
        return atlas_judge.judge(source, [
            answer(("a", 8), a), answer(("b", 8), b), answer(("untrained", 8), untrained)])

    judged, constants = judge(150, 60, 70)
    with tempfile.TemporaryDirectory() as folder:
        atlas_page.write_rows(source, judged, [], constants, Path(folder))
        atlas_page.write_page(Path(folder))
        page = (Path(folder) / "README.md").read_text()
        worse, _ = judge(151, 61, 80)
        expect(atlas_page.further_off(source, worse, [], Path(folder)),
               ["a:8, reserved: off by 51.00 %, was 50.00 %"], "the gate")
    for line in ("| made_up | a:8 | reserved | 50.0 % | known |",
                 "| made_up | b:8 | reserved | -40.0 % | open |"):
        expect(line in page, True, line)


def test_whether_rows_fit():
    source = source_of({("a", 8): 100, ("a", 16): 200, ("a", 32): 300, ("b", 8): 100})
    source.facts["fits"] = {"column": "fits"}
    for row, did_fit in zip(source.rows, ("yes", "no", "no", "")):
        row["fits"] = did_fit

    def verdicts(*fits) -> list:
        return atlas_fits.verdicts_of(source, [
            answer(name, 100, one) for name, one in zip((("a", 8), ("a", 16), ("b", 8)), fits)])

    with tempfile.TemporaryDirectory() as folder:
        atlas_page.write_rows(source, [], verdicts(True, True, False), {}, Path(folder))
        atlas_page.write_page(Path(folder))
        page = (Path(folder) / "README.md").read_text()
        for line in ("| made_up | 1 | 1 | 1 | 0 |",
                     "| made_up | a:16 | planned to fit: yes, did: no | | open |"):
            expect(line in page, True, line)
        expect(atlas_page.further_off(source, [], verdicts(False, True, True), Path(folder)),
               ["a:8: planned to fit: no, did: yes"], "the gate: a:16 was wrong before")


def test_samples_may_see_what_is_short_or_not():
    source = source_of({("a", 8): 300, ("b", 8): 300, ("c", 8): 300})
    source.measured = [Figure("driver", "mib", "MiB", since_reset=True)]
    source.causes = [{"cause": "a trial", "inside": True}]
    later = {"a": 200, "b": 200, "c": 300}
    answers = [answer((model, 8), peak) | {"latest_peak_reserved_bytes": later[model] * MIB}
               for model, peak in {"a": 290, "b": 310, "c": 300}.items()]
    judged, _ = atlas_judge.judge(source, answers, {"mib": 0})
    expect([round(one.planned / MIB) for one in judged], [200, 200, 300], "what is planned")
    expect([one.interval for one in judged][1], (200 * MIB, 310 * MIB), "the interval")
    expect([source.cause_of(one.row, one.is_inside) for one in judged],
           ["", "a trial", "a trial"], "causes")


def test_the_mean_of_gpus_is_of_all_that_ranks_hold():
    def process(number: int, device: int, mib: int) -> dict:
        return {"process": number, "device": device, "driver_peak_bytes": mib * MIB,
                "peak_reserved_bytes": mib * MIB}

    # Two ranks of "a", of which the first has a context on the other's GPU too; then numbers of
    # processes begin anew.
    found = atlas_plan.answers_of(
        [{"key": "a"}, {"key": "b"}, {"key": "c"}],
        [process(3, 0, 7), process(32000, 0, 100), process(32000, 1, 10), process(32005, 1, 60)],
        [("a", "32000", "0"), ("b", "3", "0"), ("c", "9", "1")], "output.txt")
    expect([one.get("mean_driver_bytes") for one in found], [85 * MIB, 7 * MIB, None], "means")
    expect([one.get("peak_reserved_bytes") for one in found], [100 * MIB, 7 * MIB, None], "peaks")
    expect([bool(one["failure"]) for one in found], [False, False, True], "failures")
    [found_short] = atlas_plan.answers_of(
        [{"key": "a"}], [process(7, 0, 9), process(8, 1, 9) | {"refused_bytes": 5}],
        [("a", "7", "-6")], "output.txt")
    expect((found_short["fits"], found_short["failure"]), (False, ""), "a rank without memory")
    source = source_of({("a", 8): 85})
    source.measured = [Figure("driver", "mib", "MiB", of_mean_gpu=True)]
    judged, _ = atlas_judge.judge(source, [found[0] | {"key": "a:8", "total_bytes": TOTAL}])
    expect(judged[0].error, 0.0, "error")
    expect([one.get("mean_contexts") for one in found], [1.5, 1, None], "contexts")
    judged, _ = atlas_judge.judge(source, [found[0] | {"key": "a:8", "total_bytes": TOTAL}],
                                  {"mib": 10 * MIB})
    expect(judged[0].planned, 100 * MIB, "with the constant of each context")


def test_a_row_may_end_behind_a_progress_bar():
    expect(atlas_plan.SAID.findall(" 50%|##   | 1/2 atlas row=a:8 process=7 status=3\n"),
           [("a:8", "7", "3")], "what a row's process said")


def test_packages_may_be_of_the_row():
    facts = {"environment": {"torch": "2.11.0", "packages": ["{package}", "numpy==2.4.6"]}}
    source = Source("made_up", facts, [], [], [])
    expect(source.environment_of({"package": "liger-kernel==0.4.2"}),
           {"torch": "2.11.0", "packages": ["liger-kernel==0.4.2", "numpy==2.4.6"]}, "packages")
    expect(source.environment_of({"package": "x", "torch": "2.4.1"})["torch"], "2.4.1", "PyTorch")


def test_every_source_can_be_read():
    for name in atlas_source.names():
        source = atlas_source.read(name)
        expect(bool(source.rows and source.measured), True, name)


def test_the_program_names_no_source():
    texts = [file.read_text(errors="replace") for file in (ROOT / "src").rglob("*.*")]
    for name in atlas_source.names():
        expect([text[:80] for text in texts if name in text], [], f"src names {name}")


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()


main()
