// SPDX-License-Identifier: Apache-2.0
#include "src/workers/program_file.h"

#include <cstddef>
#include <utility>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxBytesOfProgram = std::size_t{4} << 30;

}  // namespace

// The identity first: what is written while the file is read shows at the next look.
ProgramFile::ProgramFile(std::string path)
    : path_(std::move(path)), identity_(identity_of(path_)), hash_(read_hash()) {}

void ProgramFile::check_is_the_same() {
  const FileIdentity now = identity_of(path_);
  if (now == identity_) return;
  if (now.bytes < 0 || read_hash() != hash_) {
    throw ResultsError(path_ +
                       ": it is not the program any more that this run began with, and results of "
                       "two must not be mixed. What is done is kept: --resume goes on with it "
                       "where that program is back, --out names a folder for the new one");
  }
  identity_ = now;
}

std::string ProgramFile::read_hash() const {
  return fingerprint(read_file(path_, kMaxBytesOfProgram));
}

}  // namespace headroom
