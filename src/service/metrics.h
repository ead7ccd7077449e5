#pragma once
// The metrics of the service in the text format of Prometheus, version 0.0.4.

#include <string>
#include <vector>

#include "service/observer.h"

namespace cuzk::service {

std::string metrics_text(const Reading& reading);

// "name (type; labels): meaning", one a metric, as docs/operating.md lists them.
struct MetricName {
  std::string_view name, type, labels, help;
};
std::vector<MetricName> metric_names();

}  // namespace cuzk::service
