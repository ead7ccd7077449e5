#include "service/identity.h"

#include <unistd.h>

#include <array>

namespace cuzk::service {

const Identity& identity() {
  static const Identity known = [] {
    std::array<char, 256> name{};
    return Identity{gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "", CUZK_VERSION};
  }();
  return known;
}

}  // namespace cuzk::service
