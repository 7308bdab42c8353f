# SPDX-License-Identifier: Apache-2.0
"""A process sends tensors of its device to another by a queue, as actors and learners do."""
import torch
import torch.multiprocessing as mp


def receive(tensors, answers):
    for _ in range(3):
        tensor = tensors.get()
        assert tensor.is_cuda and tensor.shape == (1 << 22,)
        doubled = tensor * 2
        del tensor
        answers.put(doubled.numel())
    print("allocated_child", torch.cuda.max_memory_allocated(), flush=True)


if __name__ == "__main__":
    mp.set_start_method("spawn")
    tensors, answers = mp.Queue(), mp.Queue()
    child = mp.Process(target=receive, args=(tensors, answers))
    child.start()
    for _ in range(3):
        tensors.put(torch.ones(1 << 22, device="cuda"))
        assert answers.get() == 1 << 22
    child.join()
    assert child.exitcode == 0
    print("allocated_parent", torch.cuda.max_memory_allocated(), flush=True)
