// Arbitrary bytes as the path of a request. What is found names parts of the path, and an endpoint
// of a model has its name.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "frontends/http/router.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::Endpoint;
  const std::string path(reinterpret_cast<const char*>(data), size);
  const nereid::Route route = nereid::ParseRoute(path);
  const bool found = route.endpoint != Endpoint::kNotFound;
  Require(found == (nereid::AllowedMethods(route.endpoint)[0] != '\0'));
  for (const std::string* name : {&route.model, &route.region, &route.repository}) {
    Require(name->size() <= path.size());
  }
  Require(std::all_of(route.version.begin(), route.version.end(),
                      [](char c) { return c >= '0' && c <= '9'; }));
  Require(route.version.empty() || !route.model.empty());
  const bool of_a_model =
      route.endpoint == Endpoint::kInfer || route.endpoint == Endpoint::kGenerate ||
      route.endpoint == Endpoint::kGenerateStream || route.endpoint == Endpoint::kModelMetadata ||
      route.endpoint == Endpoint::kModelReady || route.endpoint == Endpoint::kModelConfig ||
      route.endpoint == Endpoint::kModelStatistics || route.endpoint == Endpoint::kModelLoad ||
      route.endpoint == Endpoint::kModelUnload || route.endpoint == Endpoint::kModelTraceSetting;
  if (found) Require(of_a_model == !route.model.empty());
  Require(nereid::PercentDecode(path).size() <= path.size());
  return 0;
}
