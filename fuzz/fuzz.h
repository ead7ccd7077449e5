#pragma once
// What fuzz targets share.

#include <cstddef>
#include <cstdint>

// A property that must hold whatever the input is; the fuzzer keeps the input that breaks it.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}
