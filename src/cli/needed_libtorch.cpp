// SPDX-License-Identifier: Apache-2.0
#include "src/cli/needed_libtorch.h"

#include <string>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/text.h"

namespace headroom {
namespace {

constexpr std::size_t kMostBytes = 65536;
const std::string kAlways = "; plan -- PROGRAM works all the same";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The text between the quotes behind `__version__ = `; empty: there is none.
std::string version_in_python(const std::string& text) {
  const std::string begin = "__version__ = '";
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return "";
  const std::string rest = text.substr(at + begin.size());
  return rest.substr(0, rest.find('\''));
}

/// What the LibTorch in `folder` says of itself: a wheel in version.py, an archive in
/// build-version; empty: neither is there.
std::string version_in(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "version.py")) {
    return version_in_python(read_file(folder / "version.py", kMostBytes));
  }
  if (std::filesystem::exists(folder / "build-version")) {
    return first_line(read_file(folder / "build-version", kMostBytes));
  }
  return "";
}

/// "2.11.*+cu130" of 2.11.0+cu130: what has one ABI.
std::string any_patch(const std::string& version) {
  const std::size_t minor = version.find('.');
  const std::size_t patch = minor == std::string::npos ? minor : version.find('.', minor + 1);
  if (patch == std::string::npos) return version;
  const std::size_t build = version.find('+', patch);
  return version.substr(0, patch) + ".*" +
         (build == std::string::npos ? "" : version.substr(build));
}

}  // namespace

void check_needed_libtorch(const std::filesystem::path& program) {
  if (!std::filesystem::exists(program / "needed_libtorch")) return;
  const std::string needed =
      any_patch(first_line(read_file(program / "needed_libtorch", kMostBytes)));
  const auto torch = (program / "../torch").lexically_normal();
  const std::string found = version_in(torch);
  if (found.empty()) {
    throw Unsupported(torch.string() +
                      ": there is no PyTorch or LibTorch; headroom's models need " + needed +
                      " there, or a link to it" + kAlways);
  }
  if (any_patch(found) != needed) {
    throw Unsupported(torch.string() + ": it is PyTorch " + printable(found) +
                      ", and headroom's models need " + needed + kAlways);
  }
}

}  // namespace headroom
