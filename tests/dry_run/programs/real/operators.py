# SPDX-License-Identifier: Apache-2.0
"""Calls operators that PyTorch's own tests list, with some inputs of each, and takes gradients.
Where a plan ends one that a GPU would not, the program fails."""
import itertools

import torch
from torch.testing._internal.common_methods_invocations import op_db

TYPES = (torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.complex64)
INPUTS = 5  # of each type
# Left out: what a plan can't follow (docs/programs_tried.md), and what PyTorch has not for GPUs, or
# not with gradients.
LEFT_OUT = {"linalg.ldl_factor", "linalg.ldl_factor_ex", "mode",
            "sparse.mm", "_softmax_backward_data"}


def tensors_in(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return list(itertools.chain.from_iterable(map(tensors_in, result)))
    return []


def call(operator, sample):
    result = operator(sample.input, *sample.args, **sample.kwargs)
    outputs = [each for each in tensors_in(result) if each.requires_grad]
    if outputs:
        torch.autograd.backward([each.abs().sum() for each in outputs])
    torch.cuda.synchronize()


def failures_of(operator):
    """How many calls there were, and what went wrong."""
    calls, wrong = 0, []
    for dtype in TYPES:
        if dtype not in operator.supported_dtypes("cuda"):
            continue
        takes_gradients = (operator.supports_autograd and dtype.is_floating_point
                           and dtype in operator.supported_backward_dtypes("cuda"))
        samples = operator.sample_inputs("cuda", dtype, requires_grad=takes_gradients)
        for sample in itertools.islice(samples, INPUTS):
            calls += 1
            try:
                call(operator, sample)
            except Exception as error:  # whatever it is, it is counted
                text = str(error).strip().splitlines()
                wrong.append(f"{dtype}: {type(error).__name__}: {text[0] if text else ''}")
    return calls, wrong


torch.manual_seed(0)
operators = [each for each in op_db if each.name not in LEFT_OUT]
all_calls, has_failed = 0, False
for operator in operators:
    calls, wrong = failures_of(operator)
    all_calls += calls
    has_failed |= bool(wrong)
    if wrong:
        print(operator.formatted_name, wrong)
print(f"{len(operators)} operators, {all_calls} calls")
assert not has_failed
