// SPDX-License-Identifier: Apache-2.0
// A cuDNN without the parts of version 9 beside it: it can't be asked for its engines.
extern "C" unsigned long cudnnGetVersion() { return 8902; }
