// SPDX-License-Identifier: Apache-2.0
// A library of a program, which imports what cusparse.cpp has.
extern "C" {
int cusparseNobodyKnows();
int cusparseNobodyKnowsVersion();
int lapack_();

int call() { return cusparseNobodyKnows(); }
int call_version() { return cusparseNobodyKnowsVersion(); }
int call_lapack() { return lapack_(); }

// The loader writes it, and makes it read-only.
extern int (*const pointer)();
int (*const pointer)() = &cusparseNobodyKnows;
}
