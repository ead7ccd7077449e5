#include "gadgets/boolean.h"

namespace cuzk::gadgets {

const Fr& power_of_two(unsigned exponent) {
  static const auto table = [] {
    std::array<Fr, 256> powers;
    powers[0] = Fr::one();
    for (size_t i = 1; i < powers.size(); i++) powers[i] = powers[i - 1].dbl();
    return powers;
  }();
  return table[exponent];
}

}  // namespace cuzk::gadgets
