// SPDX-License-Identifier: Apache-2.0
// Bears the name of one of CUDA's libraries: what it has, the dry run has not.
extern "C" int cusparseNobodyKnows() { return 1; }
extern "C" int cusparseNobodyKnowsVersion() { return 2; }
extern "C" int lapack_() { return 3; }
