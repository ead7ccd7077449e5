#pragma once
// Which machine and which build this is, for who reads logs and errors of many.

#include <string>
#include <string_view>

namespace cuzk::service {

struct Identity {
  std::string host;
  std::string_view version;
};
const Identity& identity();

}  // namespace cuzk::service
