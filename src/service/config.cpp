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
#include "service/wiring.h"

namespace cuzk::service {
namespace {

// How a setting comes from a value and goes back to one.
struct Access {
  std::function<Status(const toml::node&, Config&)> read;  // kUsage without a place
  std::function<std::string(const Config&)> write;         // as TOML
};

enum class Change : uint8_t { kRestart, kReload };  // what a new value of a setting takes

struct Setting {
  std::string_view key;  // "table.name"
  std::string_view meaning;
  Access access;  // empty: known from other versions, without effect here
  Change change = Change::kRestart;
};

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_text(const std::vector<std::string>& list) {
  std::vector<std::string> words;
  for (const std::string& word : list) words.push_back(toml_text(word));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

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

Access path_into(std::filesystem::path Config::*member) {
  return {[member](const toml::node& node, Config& config) -> Status {
            CUZK_TRY_ASSIGN(config.*member, text_of(node));
            return {};
          },
          [member](const Config& config) { return toml_text((config.*member).string()); }};
}

Access count_into(size_t Config::*member, int64_t least, int64_t most) {
  return {[=](const toml::node& node, Config& config) -> Status {
            CUZK_TRY_ASSIGN(config.*member, count_of(node, least, most));
            return {};
          },
          [member](const Config& config) { return std::to_string(config.*member); }};
}

// A size, or "auto" for none.
Access size_into(std::optional<uint64_t> Config::*member) {
  return {
      [member](const toml::node& node, Config& config) -> Status {
        CUZK_TRY_ASSIGN(std::string text, text_of(node));
        (config.*member).reset();
        if (text == "auto") return {};
        CUZK_TRY_ASSIGN(config.*member, parse_size(text));
        return {};
      },
      [member](const Config& config) { return toml_text(config.*member ? format_size(*(config.*member)) : "auto"); }};
}

Access bytes_into(uint64_t Config::*member) {
  return {[member](const toml::node& node, Config& config) -> Status {
            CUZK_TRY_ASSIGN(std::string text, text_of(node));
            CUZK_TRY_ASSIGN(config.*member, parse_size(text));
            return {};
          },
          [member](const Config& config) { return toml_text(format_size(config.*member)); }};
}

Access flag_into(bool Config::*member) {
  return {[member](const toml::node& node, Config& config) -> Status {
            auto flag = node.value_exact<bool>();
            if (!flag) return fail(Code::kUsage, "true or false is wanted");
            config.*member = *flag;
            return {};
          },
          [member](const Config& config) { return std::string(config.*member ? "true" : "false"); }};
}

Access duration_into(std::chrono::milliseconds Config::*member) {
  return {[member](const toml::node& node, Config& config) -> Status {
            std::string text;
            if (auto seconds = node.value_exact<int64_t>()) {
              text = std::to_string(*seconds);
            } else {
              CUZK_TRY_ASSIGN(text, text_of(node));
            }
            CUZK_TRY_ASSIGN(config.*member, parse_duration(text));
            return {};
          },
          [member](const Config& config) { return toml_text(format_duration(config.*member)); }};
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

Status read_status_listen(const toml::node& node, Config& config) {
  CUZK_TRY_ASSIGN(config.status_listen, text_of(node));
  if (!config.status_listen.empty()) CUZK_TRY(parse_http_listen(config.status_listen));
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

std::string write_files(const Config& config) {
  std::vector<std::string> entries;
  for (const auto& [id, path] : config.param_files) entries.push_back(toml_text(id) + " = " + toml_text(path.string()));
  return entries.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(entries, ", "));
}

// Octal, as chmod takes it.
Status read_mode(const toml::node& node, Config& config) {
  CUZK_TRY_ASSIGN(const std::string text, text_of(node));
  const bool octal = !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == text.npos;
  config.socket.mode = octal ? static_cast<unsigned>(std::stoul(text, nullptr, 8)) : 01000;
  if (config.socket.mode > 0777) return fail(Code::kUsage, "'{}' is no file mode such as \"0660\"", text);
  return {};
}

Status read_owner(const toml::node& node, Config& config) {
  CUZK_TRY_ASSIGN(config.socket.owner, text_of(node));
  return find_owner(config.socket.owner).map([](auto) {});
}

Status read_files(const toml::node& node, Config& config) {
  const toml::table* table = node.as_table();
  if (!table) return fail(Code::kUsage, "a table of circuit id = \"path\" is wanted");
  for (const auto& [id, path] : *table) {
    CUZK_TRY_ASSIGN(config.param_files[std::string(id.str())], text_of(path));
  }
  return {};
}

Status read_preload(const toml::node& node, Config& config) {
  const toml::array* list = node.as_array();
  if (!list) return fail(Code::kUsage, "a list is wanted");
  for (const toml::node& entry : *list) {
    CUZK_TRY_ASSIGN(const std::string name, text_of(entry));
    CUZK_TRY(find_circuit(name));
    config.preload.push_back(name);
  }
  return {};
}

// One of a few words.
template <class T>
Access choice_into(T Config::*member, std::map<std::string, T> choices) {
  return {[=](const toml::node& node, Config& config) -> Status {
            CUZK_TRY_ASSIGN(std::string word, text_of(node));
            if (auto choice = choices.find(word); choice != choices.end()) {
              config.*member = choice->second;
              return {};
            }
            std::vector<std::string> words;
            for (const auto& [known, value] : choices) words.push_back(known);
            return fail(Code::kUsage, "'{}' is not one of {}", word, fmt::join(words, ", "));
          },
          [=](const Config& config) {
            for (const auto& [word, value] : choices) {
              if (value == config.*member) return toml_text(word);
            }
            return toml_text("");
          }};
}

std::map<std::string, log::Level> log_levels() {
  using enum log::Level;
  std::map<std::string, log::Level> levels;
  for (log::Level level : {kTrace, kDebug, kInfo, kWarn, kError}) levels.emplace(log::level_name(level), level);
  return levels;
}

const std::vector<Setting>& settings() {
  constexpr int64_t kMaxThreads = 4096;
  static const std::vector<Setting> list = {
      {"daemon.listen",
       "address or list of addresses: unix:///path, or host:port",
       {read_listen, [](const Config& config) { return toml_text(config.listen); }}},
      {"daemon.socket_mode",
       "file mode of Unix sockets; whoever may write to one may use it",
       {read_mode, [](const Config& config) { return toml_text(fmt::format("{:04o}", config.socket.mode)); }}},
      {"daemon.socket_owner",
       "\"user\", \"user:group\" or \":group\" to give Unix sockets to; \"\": as they are made",
       {read_owner, [](const Config& config) { return toml_text(config.socket.owner); }}},
      {"daemon.tls_cert", "PEM file of the certificate and its chain; with it host:port addresses speak TLS",
       path_into(&Config::tls_cert)},
      {"daemon.tls_key", "PEM file of its private key", path_into(&Config::tls_key)},
      {"daemon.tls_client_ca", "PEM file of who may issue certificates of clients; with it each client needs one",
       path_into(&Config::tls_client_ca)},
      {"daemon.token_file", "file of a token that clients of host:port must send as `authorization: Bearer TOKEN`",
       path_into(&Config::token_file), Change::kReload},
      {"daemon.status_listen",
       "port of this machine, or host:port, for the pages over HTTP (/, /status, /metrics and more); \"\": none",
       {read_status_listen, [](const Config& config) { return toml_text(config.status_listen); }}},
      {"daemon.drain_timeout", "how long a shutdown waits for running jobs, such as \"5m\"",
       duration_into(&Config::drain_timeout), Change::kReload},
      {"srs.param_cache", "folder of the .params files under their official names", path_into(&Config::param_cache)},
      {"srs.circuit_cache", "folder of compiled circuits; default: param_cache", path_into(&Config::circuit_cache)},
      {"srs.files", "table of circuit id = \"file\", looked up before param_cache", {read_files, write_files}},
      {"srs.preload",
       "list of circuits, such as \"winning-32GiB\", loaded before the service is ready and kept until evicted",
       {read_preload, [](const Config& config) { return toml_text(config.preload); }}},
      {"synthesis.threads", "threads of the arithmetic; 0: one a core", count_into(&Config::threads, 0, kMaxThreads)},
      {"synthesis.partition_workers",
       "partitions in synthesis or waiting for a device; 0: one a thread, if memory allows",
       count_into(&Config::partition_workers, 0, kMaxThreads)},
      {"memory.total_budget",
       "host memory to use, such as \"256GiB\"; \"auto\": what machine, NUMA nodes and cgroup leave",
       size_into(&Config::total_budget)},
      {"memory.safety_margin", "how much of it is left to the rest of the process; \"auto\": 1/8, at most 5GiB",
       size_into(&Config::safety_margin)},
      {"gpus.devices",
       "CUDA devices by ordinal, UUID or PCI address; []: all, or the processor where there is none; "
       "[\"none\"]: the processor",
       {read_devices, [](const Config& config) { return toml_text(config.gpu_devices); }}},
      {"gpus.gpu_workers_per_device", "partitions on a device at a time",
       count_into(&Config::gpu_workers_per_device, 1, 16)},
      {"gpus.memory_limit", "memory of each device to use, such as \"16GiB\"; \"auto\": what is free at the start",
       size_into(&Config::gpu_memory_limit)},
      {"gpus.b_g2",
       "where the sum over G2 is made: gpu; cpu, while a proof is finished; auto: gpu, the faster one wherever "
       "measured",
       choice_into<bool>(&Config::b_g2_on_host, {{"auto", false}, {"gpu", false}, {"cpu", true}})},
      {"scheduler.max_queue", "jobs that may wait", count_into(&Config::max_waiting, 1, 1'000'000), Change::kReload},
      {"scheduler.result_ttl", "how long a result is kept, such as \"1h\"", duration_into(&Config::result_ttl),
       Change::kReload},
      {"scheduler.result_bytes", "how much memory kept results may take, such as \"64MiB\"; the oldest leave first",
       bytes_into(&Config::result_bytes)},
      {"scheduler.stage_limit",
       "a stage of a job that takes longer than this is given up; as it cannot be stopped, its device gets no work "
       "until it ends; \"0s\": no limit",
       duration_into(&Config::stage_limit)},
      {"scheduler.quarantine",
       "how long a device gets no work after it failed twice in a row; doubled at each further failure",
       duration_into(&Config::quarantine)},
      {"scheduler.max_quarantines",
       "after so many in a row of every device the daemon exits, to be started anew; 0: it stays",
       count_into(&Config::max_quarantines, 0, 1000)},
      {"journal.enabled", "whether jobs and results survive a restart", flag_into(&Config::journal)},
      {"journal.path", "its file; default: /data/zk/journal.db where that folder exists, else there is no journal",
       path_into(&Config::journal_path)},
      {"journal.max_bytes", "what it may hold, such as \"16GiB\"; the oldest results leave first",
       bytes_into(&Config::journal_bytes)},
      {"logging.level", "trace, debug, info, warn or error", choice_into<log::Level>(&Config::log_level, log_levels()),
       Change::kReload},
      {"logging.format", "text or json", choice_into<bool>(&Config::log_json, {{"text", false}, {"json", true}})},
      {"memory.eviction_min_idle", "", {}},
      {"memory.pinned_budget", "", {}},
      {"memory.working_memory_budget", "", {}},
      {"gpus.gpu_threads", "", {}},
      {"scheduler.max_batch_size", "", {}},
      {"scheduler.max_batch_wait_ms", "", {}},
      {"scheduler.sort_by_type", "", {}},
      {"pipeline.enabled", "", {}},
      {"pipeline.synthesis_lookahead", "", {}},
      {"pipeline.synthesis_concurrency", "", {}},
      {"pipeline.max_parallel_synthesis", "", {}},
      {"pipeline.slot_size", "", {}},
      {"pipeline.max_gpu_queue_depth", "", {}},
  };
  return list;
}

// Settings that are of no use without each other.
Status check_tls(const Config& config) {
  if (config.tls_cert.empty() != config.tls_key.empty())
    return fail(Code::kUsage, "daemon.tls_cert and daemon.tls_key go together");
  if (!config.tls_cert.empty()) return {};
  if (!config.tls_client_ca.empty())
    return fail(Code::kUsage, "daemon.tls_client_ca is of no use without daemon.tls_cert");
  if (!config.token_file.empty())
    return fail(Code::kUsage,
                "daemon.token_file needs daemon.tls_cert: without TLS anyone on the way could read the token");
  return {};
}

Status read_setting(const std::string& key, const toml::node& node, Config& config, std::string_view place) {
  auto setting =
      std::find_if(settings().begin(), settings().end(), [&](const Setting& known) { return known.key == key; });
  if (setting == settings().end()) return fail(Code::kUsage, "{}: unknown key '{}'", place, key);
  if (!setting->access.read) {
    config.warnings.push_back(fmt::format("{}: '{}' has no effect in this version", place, key));
    return {};
  }
  Status read = setting->access.read(node, config);
  if (!read) return fail(Code::kUsage, "{}: {}: {}", place, key, read.error().message);
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
    const std::string prefix = fmt::format("{}.", name.str());
    bool known = std::any_of(settings().begin(), settings().end(),
                             [&](const Setting& setting) { return setting.key.starts_with(prefix); });
    if (!table || !known) {
      return fail(Code::kUsage, "{}:{}: unknown {} '{}'", file, section.source().begin.line, table ? "table" : "key",
                  name.str());
    }
    for (const auto& [key, node] : *table) {
      CUZK_TRY(read_setting(fmt::format("{}.{}", name.str(), key.str()), node, config,
                            fmt::format("{}:{}", file, node.source().begin.line)));
    }
  }
  if (Status whole = check_tls(config); !whole) return fail(Code::kUsage, "{}: {}", file, whole.error().message);
  return config;
}

std::string print_config(const Config& config) {
  std::string text, table;
  for (const auto& [key, meaning, access, change] : settings()) {
    if (!access.write) continue;
    const std::string_view name = key.substr(0, key.find('.'));
    if (name != table) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", name);
    table = name;
    text += fmt::format("# {}\n{} = {}\n", meaning, key.substr(name.size() + 1), access.write(config));
  }
  return text;
}

std::vector<ConfigChange> compare(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  for (const auto& [key, meaning, access, change] : settings()) {
    if (access.write && access.write(before) != access.write(after))
      changes.push_back({key, access.write(before), access.write(after), change == Change::kRestart});
  }
  return changes;
}

Result<Config> load_config(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) return fail(Code::kNotFound, "no configuration at '{}'", path.string());
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_config(text.str(), path.string());
}

Result<std::string> changed_config(const std::filesystem::path& path,
                                   const std::vector<std::pair<std::string, std::string>>& settings) {
  CUZK_TRY_ASSIGN(Config config, load_config(path));
  for (const auto& [key, text] : settings) {
    toml::table holder;
    try {
      holder = toml::parse(fmt::format("value = {}", text));
    } catch (const toml::parse_error&) {
      holder.insert_or_assign("value", text);
    }
    CUZK_TRY(read_setting(key, *holder.get("value"), config, fmt::format("{} = {}", key, text)));
  }
  return print_config(config);
}

std::vector<SettingInfo> list_settings() {
  const Config defaults;
  std::vector<SettingInfo> list;
  for (const auto& [key, meaning, access, change] : settings()) {
    if (access.write) list.push_back({key, meaning, access.write(defaults), change == Change::kRestart});
  }
  return list;
}

std::string describe_settings() {
  std::string text;
  for (const SettingInfo& setting : list_settings()) text += fmt::format("  {:<30}{}\n", setting.key, setting.meaning);
  return text;
}

}  // namespace cuzk::service
