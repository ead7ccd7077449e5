#include "groth16/quotient.h"

#include "field/kernels.h"

namespace cuzk::groth16 {
namespace {

constexpr size_t kGrain = 8192;

// out[i] = a[i] b[i]
void multiply(std::span<Fr> out, std::span<const Fr> a, std::span<const Fr> b, exec::Pool& pool) {
  pool.for_each_chunk(out.size(), kGrain, [&](size_t begin, size_t end) {
    kernels().fr_mul(out.data() + begin, a.data() + begin, b.data() + begin, end - begin);
  });
}

}  // namespace

void quotient(const ntt::Domain& domain, std::span<Fr> a, std::vector<Fr> b, exec::Pool& pool) {
  std::vector<Fr> c(domain.size());
  multiply(c, a, b, pool);
  ntt::inverse_to_reversed(domain, a, pool);
  ntt::inverse_to_reversed(domain, b, pool);
  ntt::inverse_to_reversed(domain, c, pool);  // L + U
  ntt::coset_forward_from_reversed(domain, a, pool);
  ntt::coset_forward_from_reversed(domain, b, pool);
  multiply(a, a, b, pool);
  b = {};
  ntt::coset_inverse_to_reversed(domain, a, pool);  // L + g^m U
  const Fr scale = (Fr::from_u64(kFrGenerator).pow(domain.size()) - Fr::one()).inverse();
  pool.for_each_chunk(a.size(), kGrain, [&](size_t begin, size_t end) {
    kernels().fr_scaled_difference(&a[begin], &a[begin], &c[begin], scale, end - begin);
  });
  ntt::bit_reverse(a, pool);
}

}  // namespace cuzk::groth16
