#pragma once
// The quotient polynomial of a satisfied system: h = (A B - C) / (X^m - 1).

#include <functional>
#include <span>

#include "exec/pool.h"
#include "ntt/ntt.h"

namespace cuzk::groth16 {

// Sets its argument to the values of A B on the domain.
using Products = std::function<void(std::span<Fr> out)>;

// From the values of A and B on the domain (w^q at q) to the coefficients of h in `a`, in natural order. Both are used
// up; then `products` makes those of C = A B anew in b, so that the work takes two vectors and not three.
//
// Six transforms instead of seven: A B = L + U X^m with L, U of degree below m, and then h = U and C = L + U. The
// product on the coset gX interpolates to L + g^m U, so h = (L + g^m U - C) / (g^m - 1), and C needs no coset
// transform.
void quotient(const ntt::Domain& domain, std::span<Fr> a, std::span<Fr> b, const Products& products, exec::Pool& pool);

}  // namespace cuzk::groth16
