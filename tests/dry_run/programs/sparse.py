# SPDX-License-Identifier: Apache-2.0
"""Products with sparse matrices, and a loss over texts of unknown place (CTC); prints the peak of
a product, and what a matrix takes of which half of the numbers are zero."""
import torch
from torch import nn

SIZE, ELEMENTS, COLUMNS = 1000, 5000, 64
SIZE_OF_HALF = 1024


def dense(*sizes):
    return torch.rand(*sizes, device="cuda")


def peak_of(product):
    product()  # the handle's workspace
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    product()
    return torch.cuda.max_memory_allocated() - before


places = torch.stack([torch.arange(ELEMENTS) // 5, torch.arange(ELEMENTS) % SIZE])
coordinates = torch.sparse_coo_tensor(places, torch.rand(ELEMENTS), (SIZE, SIZE)).coalesce()
rows = coordinates.to_sparse_csr().to("cuda")
coordinates = coordinates.to("cuda")

right = dense(SIZE, COLUMNS).requires_grad_()
torch.sparse.mm(coordinates, right).sum().backward()
torch.addmm(dense(SIZE, COLUMNS), rows, right).sum().backward()
torch.sparse.sampled_addmm(rows, dense(SIZE, COLUMNS), dense(COLUMNS, SIZE))
rows @ dense(SIZE)
torch.mv(coordinates, dense(SIZE))
coordinates.t() @ dense(SIZE, COLUMNS)
torch.bmm(torch.stack([coordinates, coordinates]), dense(2, SIZE, COLUMNS))
coordinates.to_sparse_csr()
few = (torch.rand(200, 200) > 0.95).float().to_sparse()
of_host = (few @ few).coalesce()  # many of the products meet in one element
of_device = few.cuda() @ few.cuda().requires_grad_()
assert of_device._nnz() == of_host._nnz()
torch.sparse.sum(of_device).backward()
of_rows = few.to_sparse_csr().cuda() @ few.to_sparse_csr().cuda()
assert of_rows.crow_indices().tolist() == of_host.to_sparse_csr().crow_indices().tolist()
assert of_rows.col_indices().tolist() == of_host.indices()[1].tolist()
unknown = torch.sparse_coo_tensor((dense(2, 400) * 200).long(), dense(400), (200, 200))
assert 0 < (unknown @ unknown)._nnz() <= 40_000  # by chance, as no plan knows a place
torch.sparse_coo_tensor(places.cuda(), dense(ELEMENTS), (SIZE, SIZE)).coalesce()

mask = torch.tensor([False, False, True, True]).tile(SIZE_OF_HALF, SIZE_OF_HALF // 4).cuda()
before = torch.cuda.memory_allocated()
half = torch.sparse.to_sparse_semi_structured(dense(SIZE_OF_HALF, SIZE_OF_HALF).half() * mask)
print("half", torch.cuda.memory_allocated() - before)
assert torch.mm(half, dense(SIZE_OF_HALF, COLUMNS).half()).shape == (SIZE_OF_HALF, COLUMNS)

embedding = nn.Embedding(SIZE, COLUMNS, sparse=True, device="cuda")
optimizer = torch.optim.SparseAdam(embedding.parameters())
embedding(torch.randint(0, SIZE, (512,), device="cuda")).sum().backward()
optimizer.step()

labels = torch.randint(1, 20, (160,), dtype=torch.int32)
lengths = torch.full((2, 16), 50, dtype=torch.int32)
lengths[1] = 10
for arguments in (
        (labels, lengths[0].tolist(), lengths[1].tolist()),  # cuDNN, with lengths on the host
        (labels.cuda(), lengths[0].cuda(), lengths[1].cuda()),  # and on the device
        (labels.long().cuda(), lengths[0].long().cuda(), lengths[1].long().cuda())):  # PyTorch
    words = torch.randn(50, 16, 20, device="cuda", requires_grad=True)
    nn.functional.ctc_loss(words.log_softmax(2), *arguments).backward()

other = dense(SIZE, COLUMNS)
print("product", peak_of(lambda: rows @ other))
