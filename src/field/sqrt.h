#pragma once
// Square roots in Fp and Fp2.

#include <optional>

#include "field/tower.h"

namespace cuzk {

// A square root, or nothing where there is none. Which of the two roots is returned is not specified.
std::optional<Fp> sqrt(const Fp& a);
std::optional<Fp2> sqrt(const Fp2& a);

}  // namespace cuzk
