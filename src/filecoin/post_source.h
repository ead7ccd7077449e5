#pragma once
// A PoSt as something to prove.

#include <memory>

#include "filecoin/check.h"
#include "filecoin/post_input.h"
#include "groth16/circuit_source.h"

namespace cuzk::filecoin {

// One partition for Winning, as many as the sectors need for Window. Errors are those of parse_post and check_post. The
// source synthesises on the pool, which outlives it.
Result<std::shared_ptr<const groth16::CircuitSource>> make_post_source(PostInput input, exec::Pool& pool,
                                                                       VanillaCheck check = VanillaCheck::kFull);

// From a request of that kind; kInvalidInput where its registered proof is of the other.
Result<std::shared_ptr<const groth16::CircuitSource>> make_winning_source(const PostRequest& request, exec::Pool& pool,
                                                                          VanillaCheck check = VanillaCheck::kFull);
Result<std::shared_ptr<const groth16::CircuitSource>> make_window_source(const PostRequest& request, exec::Pool& pool,
                                                                         VanillaCheck check = VanillaCheck::kFull);

// From files, as read_post takes them.
Result<std::shared_ptr<const groth16::CircuitSource>> make_post_source_from_json(
    const std::filesystem::path& json, exec::Pool& pool, VanillaCheck check = VanillaCheck::kFull);

}  // namespace cuzk::filecoin
