#pragma once
// For tests: points and pairing values made by @noble/curves (tests/interop/noble_vectors.mjs).

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/bytes.h"
#include "field/fields.h"

namespace cuzk::testing {

inline const nlohmann::json& noble_vectors() {
  static const nlohmann::json kVectors =
      nlohmann::json::parse(std::ifstream(CUZK_SOURCE_DIR "/tests/data/noble_bls12_381.json"));
  return kVectors;
}

// The element of a prime field from big-endian hex.
template <class Field>
Field field_from_hex(const std::string& hex) {
  auto bytes = from_hex(hex).value();
  return Field::from_bytes_be(std::span<const uint8_t, Field::kBytes>(bytes)).value();
}

}  // namespace cuzk::testing
