#pragma once
// How the combinations of a template are summed over a packed witness, decided once a circuit from the coefficients and
// the kinds of the variables. Each combination is in one of the four lists below.

#include <array>
#include <cstdint>
#include <vector>

#include "field/fields.h"

namespace cuzk::r1cs {

struct Circuit;

// One matrix of one template. Rows are counted from the first of the template; variables are local codes.
struct RowPlan {
  // Bits with small coefficients. Neighbouring rows of a gadget are alike but for the variables, which are neighbours
  // as well, so a run of them is one entry: row + j step, for j < count, has the sum
  //   constant + sum over k of weight[k] * bit(var[k] + j stride[k]).
  struct Run {
    static constexpr size_t kTerms = 3;
    static constexpr int kMostWeight = 8, kMostSum = (kTerms + 1) * kMostWeight;
    static constexpr uint32_t kMostRows = 128;  // that it reaches over
    uint32_t row;
    uint8_t count = 1, step = 1;
    int8_t constant = 0;
    std::array<int8_t, kTerms> weight{}, stride = {1, 1, 1};
    std::array<uint32_t, kTerms> var{};
  };
  std::vector<Run> runs;  // in order of `row`

  // Bits with any coefficients, and a constant. Most coefficients come as those of a number in binary, so `count` <= 32
  // neighbouring bits, or their complements, whose coefficients are `coefficient` and its doubles are one entry.
  struct Word {
    uint32_t var;
    uint8_t count;
    bool complement;
    Fr::Limbs coefficient;  // below p/2, canonical, as is the last double
  };
  struct Integer {
    uint32_t row, end;  // of its words, which begin where those of the one before end
    Fr::Limbs constant;
  };
  std::vector<Word> words;
  std::vector<Integer> integers;  // in order of `row`

  // Products of field elements and coefficients: eight sums side by side, whose terms number k are
  // products[begin + 8 k + lane]. Where there are fewer, the row is kNoRow, or the variable is the code after the last.
  struct Octet {
    static constexpr uint32_t kNoRow = ~uint32_t{0};
    uint32_t first_row, last_row;  // of a window of rows, ascending; those of this octet are among them
    uint32_t begin, count;
    std::array<uint32_t, 8> row;
  };
  struct Product {
    uint32_t var, coefficient;
  };
  std::vector<Octet> octets;
  std::vector<Product> products;

  std::vector<uint32_t> others;  // rows, ascending: sums and differences of field elements

  uint64_t bytes() const {
    return runs.size() * sizeof(Run) + words.size() * sizeof(Word) + integers.size() * sizeof(Integer) +
           octets.size() * sizeof(Octet) + products.size() * sizeof(Product) + others.size() * sizeof(uint32_t);
  }
};

struct TemplatePlan {
  std::array<RowPlan, 3> matrices;      // A, B, C
  std::vector<uint64_t> slot_is_field;  // bitmap: an instance binds the slot to something else than a bit
  bool has_fields = false;              // some combination is an octet or another
};

// One a template of the circuit.
std::vector<TemplatePlan> make_plans(const Circuit& circuit);

}  // namespace cuzk::r1cs
