// SPDX-License-Identifier: Apache-2.0
#include "src/results/network_file_system.h"

#include <sys/vfs.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {
namespace {

struct FileSystem {
  std::uint32_t magic;  // f_type. Sources: linux/magic.h, and the sources of those not in it
  std::string_view name;
};

constexpr std::array kFileSystems = {
    FileSystem{0x6969, "NFS"},      FileSystem{0x517B, "SMB"},
    FileSystem{0xFE534D42, "SMB"},  FileSystem{0xFF534D42, "CIFS"},
    FileSystem{0x5346414F, "AFS"},  FileSystem{0x6B414653, "AFS"},
    FileSystem{0x00C36400, "Ceph"}, FileSystem{0x0BD00BD0, "Lustre"},
    FileSystem{0x01021997, "9P"},   FileSystem{0x65735546, "FUSE"},
    FileSystem{0x47504653, "GPFS"}, FileSystem{0x19830326, "BeeGFS"},
    FileSystem{0x01161970, "GFS2"}, FileSystem{0x7461636F, "OCFS2"},
};

}  // namespace

std::string network_file_system(const std::filesystem::path& folder) {
  struct statfs status {};
  if (statfs(folder.c_str(), &status) != 0) return "";
  for (const FileSystem& each : kFileSystems) {
    if (each.magic == static_cast<std::uint32_t>(status.f_type)) return std::string(each.name);
  }
  return "";
}

}  // namespace headroom
