// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/techniques/contract.h"

// Holds a stack of techniques against the same stack without one of its members.
namespace headroom {

inline constexpr int kContractSteps = 2;

using Names = std::vector<std::string>;

bool lists(const Names& names, std::string_view name);

/// The case with these techniques, as their contracts name their options.
Json case_of(Json values, const Names& names);

/// With what the members need to be active, where that is allowed.
Names completed(Names names, const Json& model);

Trained train_stack(const Json& base, const Names& names);

/// `with`: the base with all of `names`. It keeps what the contract of `added`, one of these, says.
void expect_contract(const Trained& with, const Json& base, const Names& names,
                     const std::string& added);

/// The same of each of `added`. One training serves all that share a base.
void expect_contracts(const Json& model, const Names& names, const Names& added);

}  // namespace headroom
