# SPDX-License-Identifier: Apache-2.0
"""Runs single kernels, Liger's and PyTorch's, forward and backward (source.yaml). A function gives
how a kernel goes forward and backward, and the inputs whose gradients a benchmark of its time
drops."""
import functools

import torch
from liger_kernel.transformers.cross_entropy import LigerCrossEntropyLoss
from liger_kernel.transformers.experimental.embedding import LigerEmbedding
from liger_kernel.transformers.geglu import LigerGEGLUMLP
from liger_kernel.transformers.kl_div import LigerKLDIVLoss
from liger_kernel.transformers.layer_norm import LigerLayerNorm
from liger_kernel.transformers.rms_norm import LigerRMSNorm
from liger_kernel.transformers.rope import liger_rotary_pos_emb
from liger_kernel.transformers.swiglu import LigerSwiGLUMLP
from torch import nn
from transformers.models.llama import modeling_llama as llama

import rows

STEPS = 4  # the peak is the same from the second on, which finds gradients

torch.set_num_threads(1)


def loss(of_liger, of_torch, by, logits, target):
    """Both ways are made, as there, one is used. The loss is a number: it needs no gradient."""
    loss_of = of_liger if by == "liger" else of_torch
    return (lambda: loss_of(logits, target)), (lambda y: y.backward(retain_graph=True)), ()


def cross_entropy(by, dtype, B, T, V):
    logits = torch.randn(B * T, V, device="cuda", requires_grad=True)
    target = torch.randint(V, (B * T,), device="cuda")
    forward, _, _ = loss(LigerCrossEntropyLoss(), nn.CrossEntropyLoss(), by, logits, target)
    return forward, (lambda y: y.backward()), ()


def kl_div(by, dtype, B, T, V):
    logits = torch.randn(B * T, V, device="cuda", requires_grad=True).log_softmax(dim=-1)
    target = torch.randn(B * T, V, device="cuda").softmax(dim=-1)
    return loss(LigerKLDIVLoss(reduction="batchmean"), nn.KLDivLoss(reduction="batchmean"),
                by, logits, target)


def mlp(of_liger, activation, by, dtype, B, T, H, I):  # noqa: E741
    x = torch.randn(B, T, H, device="cuda", dtype=dtype, requires_grad=True)
    config = llama.LlamaConfig(hidden_size=H, intermediate_size=I, hidden_act=activation)
    layer = (of_liger if by == "liger" else llama.LlamaMLP)(config).cuda().to(dtype)
    return ((lambda: layer(x)), (lambda y: y.backward(torch.randn_like(y), retain_graph=True)),
            (x,))


def norm(of_liger, of_torch, by, dtype, M, N):
    layers = of_torch(N, eps=1e-6).cuda(), of_liger(hidden_size=N, eps=1e-6).cuda()
    x = torch.randn(M, N, dtype=dtype, device="cuda")
    gradient = torch.randn_like(x)
    x.requires_grad_(True)
    return ((lambda: layers[by == "liger"](x)), (lambda y: y.backward(gradient, retain_graph=True)),
            (x,))


def rope(by, dtype, T, H, Q, K):
    head = H // Q
    of_positions = llama.LlamaRotaryEmbedding(head, device="cuda")
    q, k = (torch.randn(1, T, heads, head, device="cuda", dtype=dtype,
                        requires_grad=True).transpose(1, 2) for heads in (Q, K))
    gradients = torch.randn_like(q), torch.randn_like(k)
    positions = torch.arange(T, device="cuda").unsqueeze(0)
    cos, sin = of_positions(k, positions)
    rotate = liger_rotary_pos_emb if by == "liger" else llama.apply_rotary_pos_emb
    return (lambda: rotate(q, k, cos, sin, positions),
            lambda y: torch.autograd.grad(y, (q, k), gradients, retain_graph=True), ())


def embedding(by, dtype, B, T, D, V):
    plain, own = (layer(V, D).cuda() for layer in (nn.Embedding, LigerEmbedding))
    layers = {"torch": plain, "liger": own, "compile": torch.compile(plain)}
    words = torch.randint(V, (B, T), device="cuda")
    return (lambda: layers[by](words)), (lambda y: y.backward(torch.randn_like(y))), ()


KERNELS = {
    "cross_entropy": cross_entropy, "kl_div": kl_div, "rope": rope, "embedding": embedding,
    "swiglu": lambda *a, **s: mlp(LigerSwiGLUMLP, "silu", *a, **s),
    "geglu": lambda *a, **s: mlp(LigerGEGLUMLP, "gelu_pytorch_tanh", *a, **s),
    "layer_norm": lambda *a, **s: norm(LigerLayerNorm, nn.LayerNorm, *a, **s),
    "rms_norm": lambda *a, H, **s: norm(LigerRMSNorm, llama.LlamaRMSNorm, *a, N=H, **s),
}


def measure(_, row):
    sizes = {name: int(size) for name, size in
             (word.split("=") for word in row["sizes"].split())}
    build = functools.partial(KERNELS[row["kernel"]], row["by"], getattr(torch, row["dtype"]),
                              **sizes)
    forward, backward, inputs = build()

    def full():
        backward(forward())

    steps = {"full": full, "forward": forward}
    if row["mode"] != "full":
        # Times were taken before, of all modes: both of PyTorch's threads have their workspace of
        # cuBLAS. The gradients were those of another layer, so they are not there.
        full()
        forward, backward, inputs = build()
        steps["forward"] = forward
    if row["mode"] == "backward":
        y = forward()
        if row["kernel"] == "rope":
            steps["backward"] = lambda: backward(y)
        else:
            gradient = torch.randn_like(y)  # one, for all steps
            steps["backward"] = lambda: y.backward(gradient, retain_graph=True)
    rows.timed(steps[row["mode"]], inputs)
    for _ in range(STEPS):
        torch.cuda.reset_peak_memory_stats()
        steps[row["mode"]]()


rows.each(lambda row: None, measure, group="kernel")
