#include "groth16/quotient.h"

#include "field/kernels.h"

namespace cuzk::groth16 {
namespace {

constexpr size_t kGrain = 8192;

}  // namespace

void quotient(const ntt::Domain& domain, std::span<Fr> a, std::span<Fr> b, const Products& products, exec::Pool& pool) {
  ntt::inverse_to_reversed(domain, a, pool);
  ntt::inverse_to_reversed(domain, b, pool);
  ntt::coset_forward_from_reversed(domain, a, pool);
  ntt::coset_forward_from_reversed(domain, b, pool);
  pool.for_each_chunk(a.size(), kGrain, [&](size_t begin, size_t end) {
    kernels().fr_mul(a.data() + begin, a.data() + begin, b.data() + begin, end - begin);
  });
  ntt::coset_inverse_to_reversed(domain, a, pool);  // L + g^m U
  products(b);
  ntt::inverse_to_reversed(domain, b, pool);  // L + U
  const Fr scale = (Fr::from_u64(kFrGenerator).pow(domain.size()) - Fr::one()).inverse();
  pool.for_each_chunk(a.size(), kGrain, [&](size_t begin, size_t end) {
    kernels().fr_scaled_difference(&a[begin], &a[begin], &b[begin], scale, end - begin);
  });
  ntt::bit_reverse(a, pool);
}

}  // namespace cuzk::groth16
