# SPDX-License-Identifier: Apache-2.0
"""Tells the dry run when a step of the program ends: when its first optimizer has stepped. Run by
the dry run in the program."""
import ctypes

end_step = ctypes.CDLL(None).headroom_dry_run_end_step
timed = []  # the optimizer


def after_step(optimizer, arguments, options):
    timed[:] = timed or [id(optimizer)]
    if timed == [id(optimizer)]:
        end_step()


def begin():
    from torch.optim import optimizer
    # PyTorch before 2.1 has none.
    register = getattr(optimizer, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(after_step)


once_initialized(begin)
