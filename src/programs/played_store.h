// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/programs/store_request.h"

namespace headroom {

/// The values by which one rank meets ranks that never come. What they would have set is answered
/// where they ran before, or PyTorch's protocol says what that is.
class PlayedStore {
 public:
  using Values = std::map<std::string, std::string>;

  /// `of_others`: what ranks that ran before have set.
  explicit PlayedStore(Values of_others = {}) : of_others_(std::move(of_others)) {}

  /// What this rank has set.
  const Values& values() const { return values_; }

  /// What to send back, as c10d::TCPStore does; it may be empty. Nothing: `request` waits, until a
  /// later call of it gives an answer.
  std::optional<std::string> answer(const StoreRequest& request);

  /// The first of the keys that nobody has set, and of which it is not known what the other ranks
  /// would; nothing: there is none.
  std::optional<std::string> missing(const std::vector<std::string>& keys) const;

 private:
  /// As the key stands, or the other ranks would have set it.
  std::optional<std::string> find(const std::string& key) const;
  std::int64_t add(const std::string& key, std::int64_t number);
  const std::string& exchange(const StoreRequest& request);

  Values of_others_;
  Values values_;
};

}  // namespace headroom
