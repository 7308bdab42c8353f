// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom {

// 0: as asked.
inline constexpr int kFailed = 1;           // some case, or we
inline constexpr int kWrongCall = 2;        // the call or a file of the user is wrong
inline constexpr int kUnusableResults = 3;  // earlier results can't be used
inline constexpr int kMachineLacks = 4;     // something that was asked for
inline constexpr int kInterrupted = 130;    // by the user; what was done is kept

}  // namespace headroom
