// SPDX-License-Identifier: Apache-2.0
#include "src/distributed/token_parts.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "src/memory/device_memory.h"

namespace headroom {

TokenParts::TokenParts(ProcessGroup& group, Ledger& ledger, std::int64_t tokens)
    : group_(group),
      ledger_(ledger),
      tokens_(tokens),
      own_tokens_((tokens + group.ranks() - 1) / group.ranks()) {}

at::Tensor TokenParts::empty_part(const at::Tensor& x, std::int64_t dimension) const {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  std::int64_t& rows = sizes[static_cast<std::size_t>(dimension)];
  rows = own_rows(rows);
  return at::empty(sizes, x.options());
}

/// The tokens of one rank, of all -> its part, padded.
void TokenParts::copy_part(const at::Tensor& part, const at::Tensor& x, std::int64_t dimension,
                           std::int64_t rank) const {
  const std::int64_t rows = part.size(dimension);
  const std::int64_t start = std::min(rank * rows, x.size(dimension));
  const std::int64_t count = std::min(rows, x.size(dimension) - start);
  part.narrow(dimension, 0, count).copy_(x.narrow(dimension, start, count));
  part.narrow(dimension, count, rows - count).zero_();
}

at::Tensor TokenParts::own(const at::Tensor& x, std::int64_t dimension) const {
  const at::NoGradGuard no_grad;
  at::Tensor part = empty_part(x, dimension);
  copy_part(part, x, dimension, group_.rank());
  return part;
}

at::Tensor TokenParts::gather(const at::Tensor& part, std::int64_t dimension) const {
  const at::NoGradGuard no_grad;
  const std::int64_t rows = part.size(dimension);
  const std::int64_t all_rows = rows / own_tokens_ * tokens_;
  const at::Tensor buffer = at::empty({group_.ranks() * part.numel()}, part.options());
  ledger_.tag(buffer, Category::communication);
  group_.all_gather(buffer, part.contiguous().view({-1})).wait();
  std::vector<std::int64_t> sizes = part.sizes().vec();
  if (dimension == 0) {
    sizes[0] = group_.ranks() * rows;
    return buffer.view(sizes).narrow(0, 0, all_rows);
  }
  sizes.insert(sizes.begin(), group_.ranks());
  const at::Tensor parts = buffer.view(sizes);
  sizes.erase(sizes.begin());
  sizes[static_cast<std::size_t>(dimension)] = all_rows;
  at::Tensor all = at::empty(sizes, part.options());
  for (std::int64_t rank = 0; rank * rows < all_rows; ++rank) {
    const std::int64_t count = std::min(rows, all_rows - rank * rows);
    all.narrow(dimension, rank * rows, count)
        .copy_(parts.select(0, rank).narrow(dimension, 0, count));
  }
  release_storage(buffer);
  return all;
}

at::Tensor TokenParts::sum(const at::Tensor& x, std::int64_t dimension) const {
  const at::NoGradGuard no_grad;
  at::Tensor part = empty_part(x, dimension);
  const at::Tensor buffer = at::empty({group_.ranks() * part.numel()}, part.options());
  ledger_.tag(buffer, Category::communication);
  const std::vector<at::Tensor> parts = buffer.chunk(group_.ranks());
  for (std::int64_t rank = 0; rank < group_.ranks(); ++rank) {
    copy_part(parts[static_cast<std::size_t>(rank)].view(part.sizes()), x, dimension, rank);
  }
  release_storage(x);
  group_.reduce_scatter(part.view({-1}), buffer).wait();
  release_storage(buffer);
  return part;
}

}  // namespace headroom
