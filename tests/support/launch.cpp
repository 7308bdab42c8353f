// SPDX-License-Identifier: Apache-2.0
#include "tests/support/launch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>

namespace headroom {
namespace {

bool is_free(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool is_bound = bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(socket);
  return is_bound;
}

/// Names of variables: how many, which, which on this machine, how many there.
const std::map<std::string, std::array<const char*, 4>> kVariables = {
    {"torchrun", {"WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}},
    {"mpirun",
     {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
      "OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {"srun", {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID", nullptr}},
};

}  // namespace

int free_port() {
  // Below those that the system gives to whoever connects, or lets it choose one: they come and go.
  constexpr int kFirst = 10'000;
  constexpr int kLast = 32'000;
  std::random_device random;  // a seed of the process's number gives neighbours the same ports
  std::uniform_int_distribution ports(kFirst, kLast);
  for (;;) {
    const int port = ports(random);
    if (is_free(port) && is_free(port + 1) && is_free(port + 2)) return port;
  }
}

void become_rank(const std::string& launcher, int rank, int ranks, int port) {
  const auto& names = kVariables.at(launcher);
  const std::array<int, 4> values = {ranks, rank, rank, ranks};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != nullptr) setenv(names[i], std::to_string(values[i]).c_str(), 1);
  }
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
}

}  // namespace headroom
