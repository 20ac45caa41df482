// SPDX-License-Identifier: Apache-2.0
#include "flags/command_line.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/types/span.h>

#include <algorithm>
#include <set>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "flags/flag_table.h"
#include "options/help_text.h"
#include "options/parse.h"

namespace nereid {
namespace {

constexpr size_t kHelpIndent = 8;
constexpr size_t kHelpWidth = 92;

// A service that listens.
struct Service {
  const char* name;
  const char* option;                 // of its port
  const CloudPortSettings* platform;  // null: no platform's
  bool enabled;
  std::string address;
  int port;
};

// SageMaker says which ports the other services may use.
absl::Status CheckSafePorts(const SagemakerSettings& sagemaker,
                            absl::Span<const Service> services) {
  if (!sagemaker.listen.allow || !sagemaker.safe_ports.has_value()) return absl::OkStatus();
  const auto& [low, high] = *sagemaker.safe_ports;
  for (const Service& service : services) {
    if (!service.enabled || service.platform == &sagemaker.listen) continue;
    if (service.port >= low && service.port <= high) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("The server cannot listen to ", service.name, " requests at port ",
                     service.port, ", allowed port range is [", low, ", ", high, "]\n"));
  }
  return absl::OkStatus();
}

absl::Status CheckPorts(const Settings& s) {
  const CloudPortSettings& sagemaker = s.sagemaker.listen;
  const CloudPortSettings& vertex_ai = s.vertex_ai.listen;
  const Service services[] = {
      {"HTTP", "http-port", nullptr, s.allow_http, s.http.address, s.http.port},
      {"GRPC", "grpc-port", nullptr, s.allow_grpc, s.grpc.address, s.grpc.port},
      {"metrics", "metrics-port", nullptr, s.server.metrics, s.metrics_address(), s.metrics.port},
      {"TensorFlow Serving HTTP", "tfs-http-port", nullptr, s.tfs.allow_http, s.http.address,
       s.tfs.http_port},
      {"TensorFlow Serving GRPC", "tfs-grpc-port", nullptr, s.tfs.allow_grpc, s.grpc.address,
       s.tfs.grpc_port},
      {"console", "console-port", nullptr, s.console.allow, s.console.address, s.console.port},
      {"SageMaker", "sagemaker-port", &sagemaker, sagemaker.allow, sagemaker.address,
       sagemaker.port},
      {"Vertex AI", "vertex-ai-port", &vertex_ai, vertex_ai.allow, vertex_ai.address,
       vertex_ai.port}};
  for (const Service& service : services) {
    const auto error = s.port_errors.find(service.option);
    if (service.enabled && error != s.port_errors.end()) {
      return BadOption(service.option, error->second);
    }
  }
  for (size_t i = 0; i < std::size(services); ++i) {
    for (size_t j = i + 1; j < std::size(services); ++j) {
      const Service& a = services[i];
      const Service& b = services[j];
      if (!a.enabled || !b.enabled || a.port == 0 || a.port != b.port || a.address != b.address) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("The server cannot listen to ", a.name, " requests and ", b.name,
                       " requests at the same address and port ", a.address, ":", a.port, "\n"));
    }
  }
  return CheckSafePorts(s.sagemaker, services);
}

// Files of TLS on a port without it would be a server that is open by mistake.
absl::Status CheckTls(const char* protocol, const transport::TlsOptions& tls) {
  if (tls.enabled) return absl::OkStatus();
  for (const auto& [name, file] : {std::pair("server-cert", &tls.certificate),
                                   {"server-key", &tls.key},
                                   {"root-cert", &tls.root}}) {
    if (file->empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("Error: ", tls.option_prefix, name, " names a file for TLS, but ", protocol,
                     " does not use TLS: ", tls.option_prefix, "use-ssl=true turns it on."));
  }
  return absl::OkStatus();
}

// Whether only programs on this machine reach a port that listens on `address`.
bool IsLoopback(absl::string_view address) {
  return absl::EqualsIgnoreCase(address, "localhost") || address == "::1" ||
         absl::StartsWith(address, "127.");
}

// Whether everybody who reaches a port on `narrow` reaches one on `wide`.
bool Covers(absl::string_view wide, absl::string_view narrow) {
  if (wide == "::" || absl::EqualsIgnoreCase(wide, narrow)) return true;
  if (wide == "0.0.0.0") return !absl::StrContains(narrow, ':') || IsLoopback(narrow);
  return IsLoopback(wide) && IsLoopback(narrow);
}

// Whether the command line asks for a text rather than for a server.
bool OnlyPrints(const Settings& s) { return s.help || s.help_all || s.help_markdown || s.version; }

absl::Status CheckTogether(const Settings& s) {
  if (s.server.model_repositories.empty()) {
    return absl::InvalidArgumentError(
        "--model-repository must be specified: the folder that holds the models to serve");
  }
  const bool on_demand = s.server.control_mode == ModelControlMode::kOnDemand;
  if (!s.server.startup_models.empty() && !on_demand &&
      s.server.control_mode != ModelControlMode::kExplicit) {
    return absl::InvalidArgumentError(
        "Error: Use of '--load-model' requires setting '--model-control-mode=explicit' as well.");
  }
  if (!on_demand && (s.server.memory_budget > 0 || s.server.idle_unload_secs > 0 ||
                     s.server.load_wait_secs > 0 || !s.server.footprints_file.empty())) {
    return absl::InvalidArgumentError(
        "--memory-budget, --idle-unload-secs, --load-wait-secs and --footprints-file have a "
        "meaning only with --model-control-mode=ondemand");
  }
  if (s.trace.mode == TraceMode::kOpenTelemetry && !s.trace_environment.ok()) {
    return s.trace_environment;
  }
  RETURN_IF_ERROR(CheckTls("HTTP", s.http.tls));
  RETURN_IF_ERROR(CheckTls("gRPC", s.grpc.tls));
  if (s.sagemaker.listen.allow) RETURN_IF_ERROR(s.sagemaker_environment);
  if (s.vertex_ai.listen.allow) RETURN_IF_ERROR(s.vertex_ai_environment);
  return CheckPorts(s);
}

// Vertex AI names the repository of its containers.
void TakePlatformRepository(Settings* s) {
  const VertexAiSettings& vertex = s->vertex_ai;
  if (!vertex.listen.allow || vertex.storage_uri.empty()) return;
  if (s->server.model_repositories.empty()) s->server.model_repositories.insert(vertex.storage_uri);
}

// Combines the cache options.
absl::Status SetCacheConfigs(Settings* s) {
  if (s->response_cache_byte_size.has_value()) {
    if (!s->cache_settings.empty()) {
      return absl::InvalidArgumentError(
          "Error: Incompatible flags --response-cache-byte-size and --cache-config both provided. "
          "Please provide one or the other.");
    }
    // No bytes: no cache.
    if (*s->response_cache_byte_size > 0) {
      s->cache_settings["local"]["size"] = absl::StrCat(*s->response_cache_byte_size);
    }
  }
  for (const auto& [cache, settings] : s->cache_settings) {
    std::string json;
    JsonWriter writer(&json);
    writer.BeginObject();
    for (const auto& [setting, value] : settings) {
      writer.Key(setting);
      writer.String(value);
    }
    writer.EndObject();
    s->server.cache_configs[cache] = json;
  }
  return absl::OkStatus();
}

absl::Status NoArguments(const ParsedLine& line) {
  if (line.arguments.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Unexpected argument: ", line.arguments[0]));
}

}  // namespace

absl::Status ParseCommandLine(const std::vector<std::string>& args, Settings* settings,
                              const WordTaker& take_word) {
  ASSIGN_OR_RETURN(const ParsedLine line, ParseServerLine(MakeFlagTable(settings), args));
  if (take_word == nullptr) RETURN_IF_ERROR(NoArguments(line));
  if (OnlyPrints(*settings)) return absl::OkStatus();
  for (const std::string& word : line.arguments) RETURN_IF_ERROR(take_word(word, settings));
  RETURN_IF_ERROR(SetCacheConfigs(settings));
  if (settings->max_in_flight_bytes.has_value()) {
    settings->server.max_in_flight_bytes = *settings->max_in_flight_bytes;
  }
  TakePlatformRepository(settings);
  return CheckTogether(*settings);
}

absl::Status ParseFrontendOptions(const std::vector<std::string>& options, Settings* settings) {
  ASSIGN_OR_RETURN(const ParsedLine line, ParseServerLine(MakeFrontendTable(settings), options));
  RETURN_IF_ERROR(NoArguments(line));
  const std::set<std::string>& names = line.names;
  settings->allow_http = settings->allow_http && names.count("http-port") > 0;
  settings->allow_grpc = settings->allow_grpc && names.count("grpc-port") > 0;
  settings->server.metrics = names.count("metrics-port") > 0;
  settings->owner_socket = settings->owner_socket && names.count("owner-socket") > 0;
  if (settings->trace.mode == TraceMode::kOpenTelemetry) {
    RETURN_IF_ERROR(settings->trace_environment);
  }
  RETURN_IF_ERROR(CheckTls("HTTP", settings->http.tls));
  RETURN_IF_ERROR(CheckTls("gRPC", settings->grpc.tls));
  return CheckPorts(*settings);
}

std::string WhyNoRestOnGrpcPort(const Settings& settings) {
  const transport::TlsOptions& http = settings.http.tls;
  const transport::TlsOptions& grpc = settings.grpc.tls;
  if (!settings.allow_http) return "HTTP is off (--allow-http=false)";
  if (!settings.grpc_restricted.empty()) {
    return "what --grpc-restricted-protocol restricts would be open";
  }
  if (!Covers(settings.http.address, settings.grpc.address)) {
    return "HTTP is served on another address (--http-address and --grpc-address)";
  }
  if (http.enabled != grpc.enabled) {
    return absl::StrCat(http.enabled ? "HTTP" : "gRPC",
                        " alone uses TLS (--http-use-ssl and "
                        "--grpc-use-ssl)");
  }
  if (http.mutual != grpc.mutual || (http.mutual && http.root != grpc.root)) {
    return "HTTP asks for other client certificates (--http-use-ssl-mutual, --http-root-cert and "
           "their twins for gRPC)";
  }
  return "";
}

std::string HelpText(const std::string& program) {
  Settings defaults;
  std::string text = absl::StrCat("Usage: ", program, " --model-repository=DIR [options]\n");
  for (const FlagGroup& group : MakeFlagTable(&defaults)) {
    absl::StrAppend(&text, "\n", group.title, ":\n");
    for (const Flag& flag : group.flags) {
      absl::StrAppend(&text, "  ", SpellingOf(flag));
      if (!flag.default_text.empty()) absl::StrAppend(&text, "  (", flag.default_text, ")");
      absl::StrAppend(&text, "\n");
      absl::StrAppend(&text, "        ", Wrapped(flag.help, kHelpIndent, kHelpWidth), "\n");
    }
  }
  return text;
}

std::string HelpMarkdown() {
  Settings defaults;
  std::string text =
      "# Command line options\n\nMade from the tables of the program by `nereid "
      "--help-markdown`.\n";
  for (const FlagGroup& group : MakeFlagTable(&defaults)) {
    absl::StrAppend(&text, "\n## ", group.title,
                    "\n\n| option | default | meaning |\n|---|---|---|\n",
                    MarkdownRows(group.flags));
  }
  return text;
}

}  // namespace nereid
