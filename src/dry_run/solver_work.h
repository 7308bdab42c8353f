// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What cuSOLVER works in: no document has it, and its queries ask a GPU. Inferred from what
// cuSOLVER 12 said on an H100 of 44 sizes from 1 to 4,096, of square matrices, of twice as many
// rows and of five more. In numbers of the matrix, where a name does not say bytes. Which of the
// constants are those of that GPU is not known.
namespace headroom::dry_run {

/// A = QR, of `columns`.
std::int64_t qr_numbers(std::int64_t columns);
std::int64_t qr_bytes(std::int64_t columns, std::int64_t number_bytes);  // by Xgeqrf
/// Q itself, from what the above left.
std::int64_t q_numbers(std::int64_t rows, std::int64_t columns);
/// A product with Q, of as many reflectors, from the left; from the right rows are columns.
std::int64_t q_product_numbers(std::int64_t rows, std::int64_t columns, std::int64_t reflectors);

std::int64_t lu_bytes(std::int64_t n);
std::int64_t cholesky_bytes(std::int64_t n);
std::int64_t ldl_numbers(std::int64_t n, std::int64_t number_bytes);

/// Eigenvalues of symmetric matrices: by dividing, of each of several too, and by Jacobi's method.
std::int64_t symmetric_numbers(std::int64_t n);
std::int64_t symmetric_bytes(std::int64_t n, std::int64_t number_bytes, std::int64_t batch);
std::int64_t jacobi_numbers(std::int64_t n);
std::int64_t jacobi_batch_numbers(std::int64_t n, std::int64_t batch);

/// Eigenvalues of any matrix.
std::int64_t eigenvalue_numbers(std::int64_t n);

/// Singular values, where there are no more columns than rows: by QR, by Jacobi's method (`thin`:
/// no more vectors on the left than columns), of several small matrices by the same, and
/// approximately, of several.
std::int64_t singular_numbers(std::int64_t rows, std::int64_t columns);
std::int64_t singular_jacobi_numbers(std::int64_t rows, std::int64_t columns, bool thin);
inline constexpr std::int64_t kSingularJacobiBatchNumbers = 992;
/// Computed in numbers of twice the precision: of 8 bytes, complex ones of 16.
std::int64_t singular_approximate_bytes(std::int64_t rows, std::int64_t columns, std::int64_t batch,
                                        bool is_complex);

}  // namespace headroom::dry_run
