// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/solver_work.h"

#include <gtest/gtest.h>

// What cuSOLVER 12 said on an H100.
namespace headroom::dry_run {
namespace {

/// Parts that cuSOLVER rounds up are not known.
void expect_near(std::int64_t actual, std::int64_t said, double share) {
  const auto number = static_cast<double>(said);
  EXPECT_NEAR(static_cast<double>(actual), number, share * number);
}

TEST(SolverWorkTest, FactorsAsCusolverSaid) {
  EXPECT_EQ(qr_numbers(1), 786'432);
  EXPECT_EQ(qr_numbers(300), 831'488);
  EXPECT_EQ(qr_bytes(8, 16), 12'583'040);
  EXPECT_EQ(q_numbers(2048, 2048), 803'072);
  EXPECT_EQ(q_numbers(513, 513), 213'632);
  EXPECT_EQ(q_numbers(64, 32), 35'072);
  expect_near(q_numbers(96, 96), 44'288, 0.025);
  EXPECT_EQ(q_product_numbers(1024, 512, 512), 1'377'024);
  EXPECT_EQ(q_product_numbers(4096, 4096, 4096), 36'770'048);
  EXPECT_EQ(lu_bytes(1000), 4 * 3136);
  EXPECT_EQ(lu_bytes(129), 16 * 224);
  EXPECT_EQ(cholesky_bytes(300), 4 * 136);
  EXPECT_EQ(cholesky_bytes(4096), 65'664);
  EXPECT_EQ(ldl_numbers(64, 4), 24'608);
  EXPECT_EQ(ldl_numbers(64, 16), 11'016);
  EXPECT_EQ(ldl_numbers(1500, 8), 96'064);
  EXPECT_EQ(ldl_numbers(4096, 8), 524'352);
}

TEST(SolverWorkTest, FindsEigenvaluesAsCusolverSaid) {
  EXPECT_EQ(symmetric_numbers(64), 127'043);
  EXPECT_EQ(symmetric_numbers(512), 1'245'251);
  EXPECT_EQ(symmetric_numbers(1024), 4'357'315);
  expect_near(symmetric_numbers(1000), 4'159'987, 0.0001);
  EXPECT_EQ(symmetric_bytes(64, 8, 1), 1'016'472);
  EXPECT_EQ(symmetric_bytes(1024, 4, 1), 17'429'388);
  expect_near(symmetric_bytes(16, 4, 1000), 314'320'352, 0.001);
  expect_near(symmetric_bytes(512, 16, 7), 139'462'096, 0.0001);
  EXPECT_EQ(jacobi_numbers(33), 4212);
  EXPECT_EQ(jacobi_numbers(2048), 4'279'360);
  EXPECT_EQ(jacobi_batch_numbers(33, 7), 23'468);
  EXPECT_EQ(jacobi_batch_numbers(1024, 1000), 1'083'398'120);
  EXPECT_EQ(eigenvalue_numbers(1500), 9'024'512 / 4);
  expect_near(eigenvalue_numbers(512), 2'114'048 / 8, 0.001);
  expect_near(eigenvalue_numbers(64), 298'496 / 8, 0.01);
}

TEST(SolverWorkTest, FindsSingularValuesAsCusolverSaid) {
  EXPECT_EQ(singular_numbers(1024, 1024), 3'477'760);
  expect_near(singular_numbers(32, 32), 77'152, 0.001);
  expect_near(singular_numbers(2048, 1024), 10'032'384, 0.0001);
  expect_near(singular_numbers(69, 64), 836'576, 0.01);
  expect_near(singular_numbers(305, 300), 1'237'152, 0.001);
  expect_near(singular_jacobi_numbers(1024, 1024, /*thin=*/false), 2'168'864, 0.0001);
  expect_near(singular_jacobi_numbers(1029, 1024, /*thin=*/true), 3'217'440, 0.0001);
  EXPECT_EQ(singular_jacobi_numbers(1024, 512, /*thin=*/true), 1'377'536);
  EXPECT_EQ(singular_jacobi_numbers(1024, 512, /*thin=*/false), 1'640'192);
  expect_near(singular_jacobi_numbers(37, 32, /*thin=*/true), 786'496, 0.0001);
  EXPECT_EQ(singular_approximate_bytes(1024, 1024, 1, /*is_complex=*/false), 8 * 6'457'539);
  EXPECT_EQ(singular_approximate_bytes(2048, 1024, 1, /*is_complex=*/true), 16 * 7'505'603);
  expect_near(singular_approximate_bytes(16, 16, 7, /*is_complex=*/false), 4 * 28'278, 0.001);
  expect_near(singular_approximate_bytes(100, 100, 100, /*is_complex=*/false), 8 * 19'264'060,
              0.001);
}

}  // namespace
}  // namespace headroom::dry_run
