#include "frontends/http/router.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/strip.h>

#include <algorithm>

namespace nereid {
namespace {

struct NamedEndpoint {
  absl::string_view name;
  Endpoint endpoint;
};

template <size_t n>
Endpoint Find(const NamedEndpoint (&table)[n], absl::string_view name) {
  for (const NamedEndpoint& entry : table) {
    if (entry.name == name) return entry.endpoint;
  }
  return Endpoint::kNotFound;
}

// Takes one non-empty path segment off the front of `path`.
bool TakeSegment(absl::string_view* path, absl::string_view* segment) {
  const size_t end = std::min(path->find('/'), path->size());
  *segment = path->substr(0, end);
  path->remove_prefix(end);
  return end > 0;
}

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// `rest` is what follows "/v2/models/": M[/versions/V][/<action>].
Route ModelRoute(absl::string_view rest) {
  static constexpr NamedEndpoint kActions[] = {
      {"", Endpoint::kModelMetadata},
      {"/infer", Endpoint::kInfer},
      {"/ready", Endpoint::kModelReady},
      {"/config", Endpoint::kModelConfig},
      {"/stats", Endpoint::kModelStatistics},
      {"/generate", Endpoint::kGenerate},
      {"/generate_stream", Endpoint::kGenerateStream},
      {"/trace/setting", Endpoint::kModelTraceSetting},
  };
  absl::string_view model;
  if (!TakeSegment(&rest, &model)) return {};
  Route route;
  if (absl::ConsumePrefix(&rest, "/versions/")) {
    absl::string_view version;
    if (!TakeSegment(&rest, &version) || !IsNumber(version)) return {};
    route.version = std::string(version);
  }
  route.endpoint = Find(kActions, rest);
  if (route.endpoint == Endpoint::kModelTraceSetting && !route.version.empty()) return {};
  route.model = PercentDecode(model);
  return route;
}

// `rest` is what follows "/v2/repository": [/N]/index or [/N]/models/M/(load|unload).
Route RepositoryRoute(absl::string_view rest) {
  Route route;
  for (const bool named : {false, true}) {
    absl::string_view tail = rest;
    absl::string_view name;
    if (named && !(absl::ConsumePrefix(&tail, "/") && TakeSegment(&tail, &name))) return {};
    route.repository = PercentDecode(name);
    if (tail == "/index") {
      route.endpoint = Endpoint::kRepositoryIndex;
      return route;
    }
    absl::string_view model;
    if (!absl::ConsumePrefix(&tail, "/models/") || !TakeSegment(&tail, &model)) continue;
    static constexpr NamedEndpoint kActions[] = {{"/load", Endpoint::kModelLoad},
                                                 {"/unload", Endpoint::kModelUnload}};
    route.endpoint = Find(kActions, tail);
    route.model = PercentDecode(model);
    if (route.endpoint != Endpoint::kNotFound) return route;
  }
  return {};
}

// `rest` is what follows "/v2/systemsharedmemory" or its twin: [/region/R]/<action>.
Route SharedMemoryRoute(absl::string_view rest, bool cuda) {
  static constexpr NamedEndpoint kSystem[] = {
      {"/status", Endpoint::kSystemSharedMemoryStatus},
      {"/register", Endpoint::kSystemSharedMemoryRegister},
      {"/unregister", Endpoint::kSystemSharedMemoryUnregister}};
  static constexpr NamedEndpoint kCuda[] = {{"/status", Endpoint::kCudaSharedMemoryStatus},
                                            {"/register", Endpoint::kCudaSharedMemoryRegister},
                                            {"/unregister", Endpoint::kCudaSharedMemoryUnregister}};
  Route route;
  if (absl::ConsumePrefix(&rest, "/region/")) {
    absl::string_view region;
    if (!TakeSegment(&rest, &region)) return {};
    route.region = PercentDecode(region);
  }
  route.endpoint = cuda ? Find(kCuda, rest) : Find(kSystem, rest);
  return route;
}

Route Only(Endpoint endpoint) {
  Route route;
  route.endpoint = endpoint;
  return route;
}

}  // namespace

Route ParseRoute(absl::string_view path) {
  static constexpr NamedEndpoint kWhole[] = {
      {"/v2/models/stats", Endpoint::kAllStatistics},
      {"/v2/logging", Endpoint::kLogging},
      {"/v2", Endpoint::kServerMetadata},
      {"/v2/health/live", Endpoint::kServerLive},
      {"/v2/health/ready", Endpoint::kServerReady},
      {"/v2/trace/setting", Endpoint::kTraceSetting},
  };
  if (const Endpoint endpoint = Find(kWhole, path); endpoint != Endpoint::kNotFound) {
    return Only(endpoint);
  }
  if (absl::ConsumePrefix(&path, "/v2/models/")) return ModelRoute(path);
  if (absl::ConsumePrefix(&path, "/v2/repository")) return RepositoryRoute(path);
  if (absl::ConsumePrefix(&path, "/v2/systemsharedmemory")) return SharedMemoryRoute(path, false);
  if (absl::ConsumePrefix(&path, "/v2/cudasharedmemory")) return SharedMemoryRoute(path, true);
  return {};
}

namespace {

struct Methods {
  bool get;
  bool post;
};

Methods MethodsOf(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kNotFound:
      return {false, false};
    case Endpoint::kServerMetadata:
    case Endpoint::kServerLive:
    case Endpoint::kServerReady:
    case Endpoint::kModelMetadata:
    case Endpoint::kModelReady:
    case Endpoint::kModelConfig:
    case Endpoint::kModelStatistics:
    case Endpoint::kAllStatistics:
    case Endpoint::kSystemSharedMemoryStatus:
    case Endpoint::kCudaSharedMemoryStatus:
      return {true, false};
    case Endpoint::kTraceSetting:
    case Endpoint::kModelTraceSetting:
    case Endpoint::kLogging:
      return {true, true};
    case Endpoint::kInfer:
    case Endpoint::kGenerate:
    case Endpoint::kGenerateStream:
    case Endpoint::kSystemSharedMemoryRegister:
    case Endpoint::kSystemSharedMemoryUnregister:
    case Endpoint::kCudaSharedMemoryRegister:
    case Endpoint::kCudaSharedMemoryUnregister:
    case Endpoint::kRepositoryIndex:
    case Endpoint::kModelLoad:
    case Endpoint::kModelUnload:
      return {false, true};
  }
  return {false, false};
}

}  // namespace

const char* AllowedMethods(Endpoint endpoint) {
  const Methods methods = MethodsOf(endpoint);
  if (methods.get) return methods.post ? "GET, HEAD, POST" : "GET, HEAD";
  return methods.post ? "POST" : "";
}

bool IsMethodAllowed(Endpoint endpoint, HttpMethod method) {
  const Methods methods = MethodsOf(endpoint);
  switch (method) {
    case HttpMethod::kGet:
    case HttpMethod::kHead:
      return methods.get;
    case HttpMethod::kPost:
      return methods.post;
    case HttpMethod::kOther:
      return false;
  }
  return false;
}

std::string PercentDecode(absl::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2])) {
      decoded += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace nereid
