#include "service/config.h"

#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/bytes.h"
#include "service/listener.h"
#include "service/units.h"

namespace cuzk::service {
namespace {

// Reads a value into the configuration; kUsage without a place.
using Read = std::function<Status(const toml::node&, Config&)>;

struct Setting {
  std::string_view key;  // "table.name"
  std::string_view meaning;
  Read read;  // null: known from other versions, without effect here
};

Result<std::string> text_of(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return *text;
  return fail(Code::kUsage, "a string is wanted");
}

Result<size_t> count_of(const toml::node& node, int64_t least, int64_t most) {
  auto number = node.value_exact<int64_t>();
  if (!number || *number < least || *number > most)
    return fail(Code::kUsage, "a number from {} to {} is wanted", least, most);
  return static_cast<size_t>(*number);
}

Read path_into(std::filesystem::path Config::*member) {
  return [member](const toml::node& node, Config& config) -> Status {
    CUZK_TRY_ASSIGN(config.*member, text_of(node));
    return {};
  };
}

Read count_into(size_t Config::*member, int64_t least, int64_t most) {
  return [=](const toml::node& node, Config& config) -> Status {
    CUZK_TRY_ASSIGN(config.*member, count_of(node, least, most));
    return {};
  };
}

// A size, or "auto" for none.
Read size_into(std::optional<uint64_t> Config::*member) {
  return [member](const toml::node& node, Config& config) -> Status {
    CUZK_TRY_ASSIGN(std::string text, text_of(node));
    if (text == "auto") return {};
    CUZK_TRY_ASSIGN(config.*member, parse_size(text));
    return {};
  };
}

Read bytes_into(uint64_t Config::*member) {
  return [member](const toml::node& node, Config& config) -> Status {
    CUZK_TRY_ASSIGN(std::string text, text_of(node));
    CUZK_TRY_ASSIGN(config.*member, parse_size(text));
    return {};
  };
}

Read flag_into(bool Config::*member) {
  return [member](const toml::node& node, Config& config) -> Status {
    auto flag = node.value_exact<bool>();
    if (!flag) return fail(Code::kUsage, "true or false is wanted");
    config.*member = *flag;
    return {};
  };
}

Read duration_into(std::chrono::milliseconds Config::*member) {
  return [member](const toml::node& node, Config& config) -> Status {
    std::string text;
    if (auto seconds = node.value_exact<int64_t>()) {
      text = std::to_string(*seconds);
    } else {
      CUZK_TRY_ASSIGN(text, text_of(node));
    }
    CUZK_TRY_ASSIGN(config.*member, parse_duration(text));
    return {};
  };
}

Status read_listen(const toml::node& node, Config& config) {
  config.listen.clear();
  toml::array single;
  const toml::array* list = node.as_array();
  if (!list) {
    single.push_back(node);
    list = &single;
  }
  for (const toml::node& entry : *list) {
    CUZK_TRY_ASSIGN(std::string address, text_of(entry));
    CUZK_TRY(parse_listen(address));
    config.listen.push_back(address);
  }
  if (config.listen.empty()) return fail(Code::kUsage, "at least one address is wanted");
  return {};
}

// Ordinals may be numbers, as they were.
Status read_devices(const toml::node& node, Config& config) {
  const toml::array* list = node.as_array();
  if (!list) return fail(Code::kUsage, "a list is wanted");
  config.gpu_devices.clear();
  for (const toml::node& entry : *list) {
    if (auto ordinal = entry.value_exact<int64_t>()) {
      config.gpu_devices.push_back(std::to_string(*ordinal));
    } else {
      CUZK_TRY_ASSIGN(std::string name, text_of(entry));
      config.gpu_devices.push_back(std::move(name));
    }
  }
  return {};
}

Status read_files(const toml::node& node, Config& config) {
  const toml::table* table = node.as_table();
  if (!table) return fail(Code::kUsage, "a table of circuit id = \"path\" is wanted");
  for (const auto& [id, path] : *table) {
    CUZK_TRY_ASSIGN(config.param_files[std::string(id.str())], text_of(path));
  }
  return {};
}

// One of a few words.
template <class T>
Read choice_into(T Config::*member, std::map<std::string, T> choices) {
  return [=](const toml::node& node, Config& config) -> Status {
    CUZK_TRY_ASSIGN(std::string word, text_of(node));
    if (auto choice = choices.find(word); choice != choices.end()) {
      config.*member = choice->second;
      return {};
    }
    std::vector<std::string> words;
    for (const auto& [known, value] : choices) words.push_back(known);
    return fail(Code::kUsage, "'{}' is not one of {}", word, fmt::join(words, ", "));
  };
}

const std::vector<Setting>& settings() {
  constexpr int64_t kMaxThreads = 4096;
  static const std::vector<Setting> list = {
      {"daemon.listen", "address or list of addresses: unix:///path, or host:port", read_listen},
      {"daemon.drain_timeout", "how long a shutdown waits for running jobs, such as \"5m\"",
       duration_into(&Config::drain_timeout)},
      {"srs.param_cache", "folder of the .params files under their official names", path_into(&Config::param_cache)},
      {"srs.circuit_cache", "folder of compiled circuits; default: param_cache", path_into(&Config::circuit_cache)},
      {"srs.files", "table of circuit id = \"file\", looked up before param_cache", read_files},
      {"synthesis.threads", "threads of the arithmetic; 0: one a core", count_into(&Config::threads, 0, kMaxThreads)},
      {"synthesis.partition_workers",
       "partitions in synthesis or waiting for a device; 0: one a thread, if memory allows",
       count_into(&Config::partition_workers, 0, kMaxThreads)},
      {"memory.total_budget", "host memory to use, such as \"256GiB\"; \"auto\": what machine and cgroup leave",
       size_into(&Config::total_budget)},
      {"memory.safety_margin", "how much of it is left to the rest of the process; \"auto\": 1/8, at most 5GiB",
       size_into(&Config::safety_margin)},
      {"gpus.devices",
       "CUDA devices by ordinal, UUID or PCI address; []: all, or the processor where there is none; "
       "[\"none\"]: the processor",
       read_devices},
      {"gpus.gpu_workers_per_device", "partitions on a device at a time",
       count_into(&Config::gpu_workers_per_device, 1, 16)},
      {"gpus.memory_limit", "memory of each device to use, such as \"16GiB\"; \"auto\": what is free at the start",
       size_into(&Config::gpu_memory_limit)},
      {"scheduler.max_queue", "jobs that may wait", count_into(&Config::max_waiting, 1, 1'000'000)},
      {"scheduler.result_ttl", "how long a result is kept, such as \"1h\"", duration_into(&Config::result_ttl)},
      {"scheduler.result_bytes", "how much memory kept results may take, such as \"64MiB\"; the oldest leave first",
       bytes_into(&Config::result_bytes)},
      {"journal.enabled", "whether jobs and results survive a restart", flag_into(&Config::journal)},
      {"journal.path", "its file; default: /data/zk/journal.db where that folder exists, else there is no journal",
       path_into(&Config::journal_path)},
      {"journal.max_bytes", "what it may hold, such as \"16GiB\"; the oldest results leave first",
       bytes_into(&Config::journal_bytes)},
      {"logging.level", "trace, debug, info, warn or error",
       choice_into<log::Level>(&Config::log_level, {{"trace", log::Level::kTrace},
                                                    {"debug", log::Level::kDebug},
                                                    {"info", log::Level::kInfo},
                                                    {"warn", log::Level::kWarn},
                                                    {"error", log::Level::kError}})},
      {"logging.format", "text or json", choice_into<bool>(&Config::log_json, {{"text", false}, {"json", true}})},
      {"daemon.status_listen", "", nullptr},
      {"srs.preload", "", nullptr},
      {"memory.eviction_min_idle", "", nullptr},
      {"memory.pinned_budget", "", nullptr},
      {"memory.working_memory_budget", "", nullptr},
      {"gpus.gpu_threads", "", nullptr},
      {"scheduler.max_batch_size", "", nullptr},
      {"scheduler.max_batch_wait_ms", "", nullptr},
      {"scheduler.sort_by_type", "", nullptr},
      {"pipeline.enabled", "", nullptr},
      {"pipeline.synthesis_lookahead", "", nullptr},
      {"pipeline.synthesis_concurrency", "", nullptr},
      {"pipeline.max_parallel_synthesis", "", nullptr},
      {"pipeline.slot_size", "", nullptr},
      {"pipeline.max_gpu_queue_depth", "", nullptr},
  };
  return list;
}

Status read_setting(const std::string& key, const toml::node& node, Config& config, std::string_view file) {
  auto line = node.source().begin.line;
  auto setting =
      std::find_if(settings().begin(), settings().end(), [&](const Setting& known) { return known.key == key; });
  if (setting == settings().end()) return fail(Code::kUsage, "{}:{}: unknown key '{}'", file, line, key);
  if (!setting->read) {
    config.warnings.push_back(fmt::format("{}:{}: '{}' has no effect in this version", file, line, key));
    return {};
  }
  Status read = setting->read(node, config);
  if (!read) return fail(Code::kUsage, "{}:{}: {}: {}", file, line, key, read.error().message);
  return {};
}

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return fail(Code::kUsage, "{}:{}: {}", file, error.source().begin.line, error.description());
  }
  Config config;
  for (const auto& [name, section] : root) {
    const toml::table* table = section.as_table();
    bool known = std::any_of(settings().begin(), settings().end(), [&](const Setting& setting) {
      return setting.key.starts_with(fmt::format("{}.", name.str()));
    });
    if (!table || !known) {
      return fail(Code::kUsage, "{}:{}: unknown {} '{}'", file, section.source().begin.line, table ? "table" : "key",
                  name.str());
    }
    for (const auto& [key, node] : *table) {
      CUZK_TRY(read_setting(fmt::format("{}.{}", name.str(), key.str()), node, config, file));
    }
  }
  return config;
}

Result<Config> load_config(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) return fail(Code::kNotFound, "no configuration at '{}'", path.string());
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_config(text.str(), path.string());
}

std::string describe_settings() {
  std::string text;
  for (const Setting& setting : settings()) {
    if (setting.read) text += fmt::format("  {:<30}{}\n", setting.key, setting.meaning);
  }
  return text;
}

}  // namespace cuzk::service
