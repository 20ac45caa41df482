// Router: which endpoint a path of the HTTP protocol names. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_ROUTER_H_
#define NEREID_FRONTENDS_HTTP_ROUTER_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>

#include "frontends/http/http_message.h"

namespace nereid {

enum class Endpoint : uint8_t {
  kNotFound,
  kServerMetadata,
  kServerLive,
  kServerReady,
  kModelMetadata,
  kModelReady,
  kModelConfig,
  kModelStatistics,
  kAllStatistics,
  kInfer,
  kGenerate,
  kGenerateStream,
  kTraceSetting,
  kModelTraceSetting,
  kLogging,
  kSystemSharedMemoryStatus,
  kSystemSharedMemoryRegister,
  kSystemSharedMemoryUnregister,
  kCudaSharedMemoryStatus,
  kCudaSharedMemoryRegister,
  kCudaSharedMemoryUnregister,
  kRepositoryIndex,
  kModelLoad,
  kModelUnload,
};

// What a path says. Names are percent-decoded.
struct Route {
  Endpoint endpoint = Endpoint::kNotFound;
  std::string model;
  std::string version;     // decimal digits; empty when the path names none
  std::string region;      // of shared memory; empty when the path names none
  std::string repository;  // empty when the path names none
};

// Paths match as a whole: no trailing slash, nothing left out.
Route ParseRoute(absl::string_view path);

// Methods that an endpoint answers, as the value of an Allow header ("GET, HEAD", "POST" ...).
const char* AllowedMethods(Endpoint endpoint);
bool IsMethodAllowed(Endpoint endpoint, HttpMethod method);

// `text` with each %XX replaced by its byte. A '%' that two hexadecimal digits do not follow
// stays as it is.
std::string PercentDecode(absl::string_view text);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_ROUTER_H_
