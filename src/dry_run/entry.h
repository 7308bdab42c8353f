// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An entry point of a library that the dry run stands in for. The library's own header declares
/// it.
#define HEADROOM_ENTRY extern "C" __attribute__((visibility("default")))
