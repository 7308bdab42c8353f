// SPDX-License-Identifier: Apache-2.0
#include "src/memory/streams.h"

#ifdef HEADROOM_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace headroom {

#ifdef HEADROOM_CUDA

namespace {

/// `later` waits for all that `earlier` was given so far.
void order(const c10::cuda::CUDAStream& earlier, const c10::cuda::CUDAStream& later) {
  at::cuda::CUDAEvent event;
  event.record(earlier);
  event.block(later);
}

}  // namespace

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
  order(c10::cuda::getCurrentCUDAStream(), stream_->stream);  // the computation comes first
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
  if (stream_) order(stream_->stream, c10::cuda::getCurrentCUDAStream());
}

struct SideStream::Stream {
  explicit Stream(at::Device device)
      : stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}
  c10::cuda::CUDAStream stream;
};

struct SideStream::Scope::Guard {
  explicit Guard(const c10::cuda::CUDAStream& stream) : guard(stream) {}
  c10::cuda::CUDAStreamGuard guard;
};

struct StreamPoint::Event {
  at::cuda::CUDAEvent event;
};

SideStream::SideStream(at::Device device)
    : stream_(device.is_cuda() ? std::make_unique<Stream>(device) : nullptr) {}

void SideStream::follow_current() const {
  if (stream_) order(c10::cuda::getCurrentCUDAStream(), stream_->stream);
}

void SideStream::follow(const SideStream& other) const {
  if (stream_) order(other.stream_->stream, stream_->stream);
}

void SideStream::join() const {
  if (stream_) order(stream_->stream, c10::cuda::getCurrentCUDAStream());
}

void SideStream::keep(const at::Tensor& tensor) const {
  if (stream_) tensor.record_stream(stream_->stream);
}

SideStream::Scope::Scope(const SideStream& side)
    : guard_(side.stream_ ? std::make_unique<Guard>(side.stream_->stream) : nullptr) {}

void keep_for_current_stream(const at::Tensor& tensor) {
  if (tensor.is_cuda()) tensor.record_stream(c10::cuda::getCurrentCUDAStream());
}

StreamPoint::StreamPoint(at::Device device)
    : event_(device.is_cuda() ? std::make_shared<Event>() : nullptr) {
  if (event_) event_->event.record();
}

void StreamPoint::wait() const {
  if (event_) event_->event.synchronize();
}

void StreamPoint::join() const {
  if (event_) event_->event.block(c10::cuda::getCurrentCUDAStream());
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

struct SideStream::Stream {};
struct SideStream::Scope::Guard {};
struct StreamPoint::Event {};

SideStream::SideStream(at::Device) {}
void SideStream::follow_current() const {}
void SideStream::follow(const SideStream&) const {}
void SideStream::join() const {}
void SideStream::keep(const at::Tensor&) const {}
SideStream::Scope::Scope(const SideStream&) {}
void keep_for_current_stream(const at::Tensor&) {}
StreamPoint::StreamPoint(at::Device) {}
void StreamPoint::wait() const {}
void StreamPoint::join() const {}

#endif

CopyStream::~CopyStream() = default;
SideStream::~SideStream() = default;
SideStream::Scope::~Scope() = default;

}  // namespace headroom
