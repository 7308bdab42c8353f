// SPDX-License-Identifier: Apache-2.0
#include "src/distributed/process_group.h"

#include <ATen/core/grad_mode.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "src/core/error.h"
#include "src/core/tcp.h"
#include "src/memory/device_memory.h"

namespace headroom {
namespace {

using Group = c10d::ProcessGroup;
using Gloo = c10d::ProcessGroupGloo;
/// Longer than any case: waiting ends when the runner says so, never when a library does.
constexpr std::chrono::hours kNoTimeout{24 * 7};

using BackendPointer = c10::intrusive_ptr<c10d::Backend>;
using Work = c10::intrusive_ptr<c10d::Work>;

/// By the name that the LibTorch at hand has for it: another one since 2.15.
template <typename AnyGroup>
Work all_gather_single(AnyGroup& group, at::Tensor& all, at::Tensor& part) {
  if constexpr (requires { group.all_gather_single(all, part); }) {
    return group.all_gather_single(all, part);
  } else {
    return group._allgather_base(all, part);
  }
}

/// As all_gather_single().
template <typename AnyGroup>
Work reduce_scatter_single(AnyGroup& group, at::Tensor& part, at::Tensor& all) {
  if constexpr (requires { group.reduce_scatter_single(part, all); }) {
    return group.reduce_scatter_single(part, all);
  } else {
    return group._reduce_scatter_base(part, all);
  }
}

/// gloo throws plain errors of its own, which name it.
bool is_of_a_peer(const std::exception& error, const std::string& text) {
  return dynamic_cast<const c10::DistError*>(&error) != nullptr ||
         text.find("gloo") != std::string::npos;
}

[[noreturn]] void say_where_ranks_can_not_meet(const Membership& membership,
                                               const std::string& reason) {
  throw Unsupported("the ranks can't meet at " + membership.store_host + ":" +
                    std::to_string(membership.store_port) +
                    " (MASTER_ADDR, MASTER_PORT + 2): " + reason);
}

/// A socket for the store, which LibTorch would have listen on all interfaces. Where all ranks are
/// on this machine it is reached as `store_host`; other machines may know that by another address.
int listen_for_store(const Membership& membership) {
  const bool are_here = membership.address.empty();
  try {
    const std::string host = are_here ? membership.store_host : "::";
    return listen_on(host, membership.store_port, are_here).release();
  } catch (const std::system_error& error) {
    say_where_ranks_can_not_meet(membership, error.code().message());
  }
}

c10::intrusive_ptr<c10d::Store> open_network_store(const Membership& membership) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(membership.store_port);
  options.isServer = membership.rank == 0;
  if (options.isServer) options.masterListenFd = listen_for_store(membership);  // closes it
  options.numWorkers = static_cast<std::size_t>(membership.ranks);
  options.timeout = kNoTimeout;
  try {
    return c10::make_intrusive<c10d::TCPStore>(membership.store_host, options);
  } catch (const c10::DistNetworkError& error) {
    const std::string text = error.what_without_backtrace();
    say_where_ranks_can_not_meet(membership, text.substr(0, text.find('\n')));
  }
}

c10::intrusive_ptr<c10d::Store> open_store(const Membership& membership) {
  c10::intrusive_ptr<c10d::Store> store;
  if (!membership.store_host.empty()) {
    store = open_network_store(membership);
  } else if (membership.store.empty()) {
    store = c10::make_intrusive<c10d::HashStore>();
    // From 256 ranks on LibTorch would wait for keys of other ranks' than the first.
    setenv("TORCH_NCCL_RANKS_PER_ROOT", "65536", /*overwrite=*/1);
  } else {
    store =
        c10::make_intrusive<c10d::FileStore>(membership.store, static_cast<int>(membership.ranks));
  }
  store->setTimeout(kNoTimeout);
  return store;
}

std::vector<std::shared_ptr<::gloo::transport::Device>> devices_of(const std::string& address) {
  if (address.empty()) return {Gloo::createDeviceForHostname("127.0.0.1")};
  const char* named = std::getenv("GLOO_SOCKET_IFNAME");
  if (named == nullptr || *named == '\0') return {Gloo::createDeviceForHostname(address)};
  std::vector<std::shared_ptr<::gloo::transport::Device>> devices;
  std::istringstream names(named);
  for (std::string name; std::getline(names, name, ',');) {
    try {
      devices.push_back(Gloo::createDeviceForInterface(name));
    } catch (const std::exception&) {
      throw Unsupported("GLOO_SOCKET_IFNAME: here is no interface '" + name + "' with an address");
    }
  }
  return devices;
}

/// gloo. Serves tensors on the CPU, and on CUDA by way of host memory. It listens on the interface
/// of `address`, or, as PyTorch does, on those that GLOO_SOCKET_IFNAME names; where `address` is
/// empty, since all ranks are on one machine, on the loopback interface alone. Returns once all
/// ranks are connected: one that left before would break the connections that others still make.
/// Throws Unsupported where GLOO_SOCKET_IFNAME names an interface that is not there.
BackendPointer make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                 const std::string& address) {
  const auto options = Gloo::Options::create(kNoTimeout);
  options->devices = devices_of(address);
  auto backend = c10::make_intrusive<Gloo>(store, rank, ranks, options);
  backend->barrier()->wait();
  return backend;
}

/// NCCL for one CUDA device a rank.
/// Throws Unsupported in a build without CUDA or without NCCL's header.
#ifdef USE_C10D_NCCL
BackendPointer make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                 c10::Device device) {
  // Its watchdog would end the process after minutes of its own choice.
  setenv("TORCH_NCCL_ENABLE_MONITORING", "0", /*overwrite=*/1);
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = kNoTimeout;
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, ranks, options);
  backend->setBoundDeviceId(device);
  return backend;
}

#else

BackendPointer make_nccl_backend(const c10::intrusive_ptr<c10d::Store>&, int, int, c10::Device) {
  throw Unsupported("this build has no NCCL");
}

#endif

c10::intrusive_ptr<Group> join(const Membership& membership, at::Device device, bool nccl) {
  const auto store = open_store(membership);
  const auto rank = static_cast<int>(membership.rank);
  const auto ranks = static_cast<int>(membership.ranks);
  auto group = c10::make_intrusive<Group>(store, rank, ranks);
  const auto type = nccl ? Group::BackendType::NCCL : Group::BackendType::GLOO;
  group->setDefaultBackend(type);
  group->setBackend(device.type(), type,
                    nccl ? make_nccl_backend(store, rank, ranks, device)
                         : make_gloo_backend(store, rank, ranks, membership.address));
  return group;
}

}  // namespace

void with_peers(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (!is_of_a_peer(error, text)) throw;
    TORCH_CHECK_WITH(OutOfMemoryError, text.find("'out of memory'") == std::string::npos,
                     "CUDA out of memory: the device has no room for NCCL's buffers");
    throw PeerLost("a collective failed: " + text.substr(0, text.find('\n')));
  }
}

Collective::Collective(Works works, std::function<void()> then)
    : works_(std::move(works)), then_(std::move(then)) {}
Collective::Collective() = default;
Collective::~Collective() = default;
Collective::Collective(Collective&&) noexcept = default;
Collective& Collective::operator=(Collective&&) noexcept = default;

Collective Collective::then(std::function<void()> next) && {
  return Collective(std::move(works_), [first = std::move(then_), last = std::move(next)] {
    if (first) first();
    last();
  });
}

void Collective::wait() {
  with_peers([this] {
    for (const auto& work : works_) work->wait();
  });
  works_.clear();
  if (const auto then = std::exchange(then_, {})) then();
}

ProcessGroup::ProcessGroup(const Membership& membership, at::Device device,
                           CollectiveBackend backend)
    : rank_(membership.rank),
      ranks_(membership.ranks),
      device_(device),
      uses_nccl_(backend == CollectiveBackend::automatic ? device.is_cuda()
                                                         : backend != CollectiveBackend::gloo) {
  if (uses_nccl_ && !device.is_cuda()) {
    throw Unsupported("NCCL moves bytes between GPUs; on the CPU there is train.backend=gloo");
  }
  with_peers([&] { group_ = join(membership, device, uses_nccl_); });
  if (backend == CollectiveBackend::nccl_torch_2_7) nccl_stream_.emplace(device);
}

ProcessGroup::~ProcessGroup() = default;

Collective ProcessGroup::all_gather(const at::Tensor& all, const at::Tensor& part) {
  sent_bytes_ += (ranks_ - 1) * static_cast<std::int64_t>(part.nbytes());
  if (uses_nccl_) {
    at::Tensor output = all;
    at::Tensor input = part;
    return Collective(begin({output, input}, [&] {
      return Collective::Works{all_gather_single(*group_, output, input)};
    }));
  }
  return Collective(begin({all, part}, [&] {
    Collective::Works works;
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      std::vector<at::Tensor> one{all.narrow(0, rank * part.numel(), part.numel())};
      if (rank == rank_ && !one[0].is_alias_of(part)) one[0].copy_(part);
      c10d::BroadcastOptions options;
      options.rootRank = rank;
      works.push_back(group_->broadcast(one, options));
    }
    return works;
  }));
}

Collective ProcessGroup::reduce_scatter(const at::Tensor& part, const at::Tensor& all) {
  sent_bytes_ += (ranks_ - 1) * static_cast<std::int64_t>(part.nbytes());
  if (uses_nccl_) {
    at::Tensor output = part;
    at::Tensor input = all;
    return Collective(begin({output, input}, [&] {
      return Collective::Works{reduce_scatter_single(*group_, output, input)};
    }));
  }
  std::vector<at::Tensor> tensors{all};
  return Collective(begin(tensors, [&] { return Collective::Works{group_->allreduce(tensors)}; }),
                    [part, all, rank = rank_] {
                      const at::NoGradGuard no_grad;
                      part.copy_(all.narrow(0, rank * part.numel(), part.numel()));
                    });
}

Collective ProcessGroup::all_reduce(const at::Tensor& values) {
  count_all_reduce(static_cast<std::int64_t>(values.nbytes()));
  std::vector<at::Tensor> tensors{values};
  return Collective(begin(tensors, [&] { return Collective::Works{group_->allreduce(tensors)}; }));
}

Collective::Works ProcessGroup::begin(const std::vector<at::Tensor>& tensors,
                                      const std::function<Collective::Works()>& call) const {
  const at::NoGradGuard no_grad;
  Collective::Works works;
  with_peers([&] { works = call(); });
  if (!nccl_stream_) return works;
  // LibTorch does not give its NCCL stream away: one that waits for what that does stands in.
  const SideStream::Scope scope(*nccl_stream_);
  with_peers([&] {
    for (const auto& work : works) work->wait();
  });
  for (const at::Tensor& tensor : tensors) nccl_stream_->keep(tensor);
  return works;
}

void ProcessGroup::sum(at::Tensor& values) {
  const at::NoGradGuard no_grad;
  const at::Tensor copy = values.to(device_, values.scalar_type(), /*non_blocking=*/false,
                                    /*copy=*/true);
  all_reduce(copy).wait();
  values.copy_(copy);
  release_storage(copy);  // the backend's thread may hold it for a moment longer
}

}  // namespace headroom
