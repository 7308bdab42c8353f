// SPDX-License-Identifier: Apache-2.0
#include "src/memory/storage.h"

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>

namespace headroom {

void release_storage(const at::Tensor& tensor) {
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  storage.set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
  storage.set_nbytes(0);
}

void allocate_storage(const at::Tensor& tensor) {
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  const std::int64_t elements = tensor.storage_offset() + tensor.numel();
  const std::size_t bytes = static_cast<std::size_t>(elements) * tensor.element_size();
  storage.set_data_ptr_noswap(c10::GetAllocator(tensor.device().type())->allocate(bytes));
  storage.set_nbytes(bytes);
}

bool is_allocated(const at::Tensor& tensor) { return tensor.storage().nbytes() > 0; }

}  // namespace headroom
