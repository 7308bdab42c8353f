# SPDX-License-Identifier: Apache-2.0
"""Factors, inverts and decomposes matrices as torch.linalg can, one and many, of real and complex
numbers; prints the peak of an LU factorization of 512 x 512 numbers."""
import torch
from torch import linalg

SIZE = 96


def calls(one, wide, sides):
    """`one`: square matrices; `wide`: with fewer columns than rows; `sides`: right sides."""
    batched = one.dim() > 2
    yield linalg.cholesky(one)
    yield linalg.inv(one)
    yield linalg.solve(one, sides)
    yield linalg.slogdet(one)
    yield linalg.lu(one)
    yield linalg.lu_solve(*linalg.lu_factor(one), sides)
    yield linalg.solve_triangular(one, sides, upper=True)
    yield linalg.qr(wide)
    yield linalg.svd(wide, full_matrices=False)
    for driver in ("gesvd", "gesvdj", "gesvda"):
        yield linalg.svd(wide, full_matrices=False, driver=driver)
    yield linalg.eigh(one)
    yield linalg.eigvalsh(one)
    yield linalg.lstsq(wide, sides)
    yield linalg.pinv(wide)
    yield torch.cholesky_solve(sides, one)
    yield torch.cholesky_inverse(one)
    if not batched:
        yield linalg.eig(one)
        yield linalg.ldl_solve(*linalg.ldl_factor(one), sides)
        yield torch.ormqr(wide, wide[0], sides)
        yield torch.svd_lowrank(wide)


def train(size):
    """A loss of a determinant and a decomposition, and its gradients."""
    weight = torch.randn(size, size, device="cuda", requires_grad=True)
    values, vectors = linalg.eigh(weight @ weight.mT)
    loss = linalg.slogdet(weight)[1] + values.sum() + vectors.sum()
    (loss + linalg.svdvals(weight).sum() + linalg.qr(weight)[0].sum()).backward()
    assert weight.grad is not None


def peak_of_lu(size):
    matrix = torch.randn(size, size, device="cuda")
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    linalg.lu_factor_ex(matrix)
    return torch.cuda.max_memory_allocated() - before


for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
    for batch in ((), (7,)):
        square = torch.eye(SIZE, dtype=dtype, device="cuda").repeat(*batch, 1, 1)
        count = sum(1 for _ in calls(square, square[..., : SIZE // 2], square[..., :4]))
        assert count > 15
train(SIZE)
torch.vdot(torch.ones(8, dtype=torch.complex64, device="cuda"),
           torch.ones(8, dtype=torch.complex64, device="cuda"))
# Its arguments are checked: the matrix must have a Cholesky factor.
torch.distributions.MultivariateNormal(
    torch.zeros(SIZE, device="cuda"), torch.eye(SIZE, device="cuda")).rsample()
print("lu", peak_of_lu(512))
