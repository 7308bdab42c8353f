// SPDX-License-Identifier: Apache-2.0
#include "src/memory/copy_stream.h"

#ifdef HEADROOM_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace headroom {

#ifdef HEADROOM_CUDA

struct CopyStream::Mark::Event {
  at::cuda::CUDAEvent event;
};

struct CopyStream::Stream {
  explicit Stream(at::Device device)
      : stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}
  c10::cuda::CUDAStream stream;
};

CopyStream::CopyStream(at::Device device)
    : stream_(device.is_cuda() ? std::make_unique<Stream>(device) : nullptr) {}

CopyStream::Mark CopyStream::copy(at::Tensor target, const at::Tensor& source) {
  if (!stream_) {
    target.copy_(source);
    return {};
  }
  at::cuda::CUDAEvent computed;  // what the compute stream has to finish first
  computed.record();
  computed.block(stream_->stream);
  Mark mark{std::make_shared<Mark::Event>()};
  {
    const c10::cuda::CUDAStreamGuard guard(stream_->stream);
    target.copy_(source, /*non_blocking=*/true);
    if (source.is_cuda()) source.record_stream(stream_->stream);
    if (target.is_cuda()) target.record_stream(stream_->stream);
    mark.event->event.record(stream_->stream);
  }
  return mark;
}

void CopyStream::wait(const Mark& mark) const {
  if (mark.event) mark.event->event.synchronize();
}

void CopyStream::join() const {
  if (!stream_) return;
  at::cuda::CUDAEvent copied;
  copied.record(stream_->stream);
  copied.block(c10::cuda::getCurrentCUDAStream());
}

#else

struct CopyStream::Mark::Event {};
struct CopyStream::Stream {};

CopyStream::CopyStream(at::Device) {}

CopyStream::Mark CopyStream::copy(at::Tensor target, const at::Tensor& source) {
  target.copy_(source);
  return {};
}

void CopyStream::wait(const Mark&) const {}
void CopyStream::join() const {}

#endif

CopyStream::~CopyStream() = default;

}  // namespace headroom
