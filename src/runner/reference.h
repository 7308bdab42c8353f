// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "src/results/row.h"
#include "src/suite/suite.h"

namespace headroom {

/// The catalog's entry of the case's model; null: there is none.
const ModelInfo* model_of(const Catalog& catalog, const Case& one);

/// What a case is checked against: the suite's plain case with the same ranks, model, data, train
/// and limits; of cases that draw their weights on the device, the first of them, which stands for
/// the plain one. Null: there is none, or the case is plain itself, or its model drops out (the
/// random numbers differ).
const Case* reference_of(const Catalog& catalog, const Suite& suite, const Case& one);

/// The row of a case that is done; null: it is not.
using DoneRow = std::function<const Row*(const Case&)>;

/// Techniques save memory; they must not change what is learned. Compares the loss and the gradient
/// norm of a case's first step with those of its reference. They may differ, relative to the
/// reference, by the sum of both cases' tolerances, that of the gradient times the model's
/// gradient_rounding; where it is 0, not by one bit. Gives `incorrect`, with the numbers before the
/// row's own reason, or the row's own status and reason.
///
/// Where the model mixes samples and a technique splits the batch, the figures are those of other
/// sums; where the device is not the CPU, weights that it draws are not the plain case's: the
/// verdict's reason says that they were not compared. A check is not made either, and
/// nothing said, where the row is not `ok`, where there is no reference, or where it is not done,
/// which it is only where it stands before the case in the suite or was done in an earlier run. A
/// figure that either lacks is not compared.
Verdict check_against_reference(const Catalog& catalog, const Suite& suite, const Case& one,
                                const Row& row, const DoneRow& done);

}  // namespace headroom
