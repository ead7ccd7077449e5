#pragma once
// The page / of the HTTP server: /status for people. Made of panel.html when the build is configured.

#include <string>

namespace cuzk::service {

extern const std::string kPanel;

}  // namespace cuzk::service
