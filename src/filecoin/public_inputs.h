#pragma once
// What the verifier of a PoRep partition computes for itself (filecoin-spec C.7).

#include <vector>

#include "base/result.h"
#include "field/fields.h"
#include "filecoin/challenges.h"
#include "filecoin/shapes.h"

namespace cuzk::filecoin {

// The inputs of a partition, without ONE: replica id, comm_d, comm_r, then 18 node numbers a challenge.
// kInvalidInput where the partition is none of the proof's or a value of the statement is not below r.
Result<std::vector<Fr>> porep_public_inputs(const RegisteredProof& proof, const PorepStatement& statement,
                                            uint32_t partition);

}  // namespace cuzk::filecoin
