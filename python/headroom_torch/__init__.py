# SPDX-License-Identifier: Apache-2.0
"""headroom from Python: docs/python.md.

    import headroom_torch as headroom
    headroom.plan(["python", "train.py"], gpu="h200")["fits"]
    headroom.read("out/quickstart/NAME")
"""
from headroom_torch.plans import NotPlanned, plan
from headroom_torch.results import read

__all__ = ["NotPlanned", "plan", "read"]
