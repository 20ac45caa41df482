// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "config/nearest_name.h"
#include "config/normalize.h"
#include "config/server_parameters.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

// Backends that exist for certain platforms only.
struct KnownBackend {
  absl::string_view backend;
  std::vector<absl::string_view> platforms;
};

const KnownBackend* FindKnownBackend(absl::string_view backend) {
  static const auto* const kKnown = new std::vector<KnownBackend>{
      {"tensorflow", {"tensorflow_graphdef", "tensorflow_savedmodel"}},
      {"tensorrt", {"tensorrt_plan"}},
      {"onnxruntime", {"onnxruntime_onnx"}},
      {"pytorch", {"pytorch_libtorch", "torch_aoti"}},
  };
  const auto it =
      absl::c_find_if(*kKnown, [&](const KnownBackend& known) { return known.backend == backend; });
  return it == kKnown->end() ? nullptr : &*it;
}

void CheckBackend(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const bool is_ensemble = config.platform() == kEnsemblePlatform;
  if (config.backend().empty() && !is_ensemble) {
    diagnostics->Add(
        "platform",
        absl::StrCat("unexpected platform type '", config.platform(), "' for ", config.name()),
        "set 'backend' to the backend that runs the model");
  } else if (!config.backend().empty() && is_ensemble) {
    diagnostics->Add("backend",
                     absl::StrCat("Ensemble model '", config.name(), "' must have platform type '",
                                  config.platform(), "' and empty backend type"),
                     absl::StrCat("remove '", config.backend(), "'"));
  } else if (const KnownBackend* known = FindKnownBackend(config.backend());
             known != nullptr && !absl::c_linear_search(known->platforms, config.platform())) {
    diagnostics->Add(
        "platform",
        absl::StrCat("unexpected 'platform' and 'backend' pair, got:", config.platform(), ", ",
                     config.backend()),
        absl::StrCat("platforms of this backend: ", absl::StrJoin(known->platforms, ", ")));
  }
}

void CheckMemoryBytes(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const auto found = config.parameters().find(kMemoryBytesParameter);
  if (found == config.parameters().end()) return;
  uint64_t bytes = 0;
  const std::string& text = found->second.string_value();
  if (absl::SimpleAtoi(text, &bytes) && bytes > 0) return;
  diagnostics->Add(absl::StrCat("parameters.", kMemoryBytesParameter),
                   absl::StrCat("parameter '", kMemoryBytesParameter, "' of model '", config.name(),
                                "' is '", text, "'"),
                   "it must be a whole number of bytes from 1");
}

void CheckParameters(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  CheckMemoryBytes(config, diagnostics);
  const std::vector<std::string> known(std::begin(kServerParameters), std::end(kServerParameters));
  std::vector<std::string> unknown;
  for (const auto& [name, value] : config.parameters()) {
    if (!absl::StartsWith(name, kServerParameterPrefix) || absl::c_linear_search(known, name)) {
      continue;
    }
    unknown.push_back(name);
  }
  absl::c_sort(unknown);
  for (const std::string& name : unknown) {
    const std::string nearest = NearestName(name, known);
    diagnostics->Add(absl::StrCat("parameters.", name),
                     absl::StrCat("unknown parameter '", name, "' for ", config.name()),
                     nearest.empty() ? absl::StrCat("the server has: ", absl::StrJoin(known, ", "))
                                     : absl::StrCat("did you mean '", nearest, "'?"));
  }
}

}  // namespace

void CheckGeneral(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  if (config.name().empty()) {
    diagnostics->Add("name", "model configuration must specify 'name'",
                     "the name of the model directory");
  }
  CheckBackend(config, diagnostics);
  if (config.max_batch_size() < 0) {
    diagnostics->Add(
        "max_batch_size",
        absl::StrCat("'max_batch_size' must be non-negative value for ", config.name()),
        absl::StrCat("got ", config.max_batch_size(),
                     "; 0 is for models without a batch dimension"));
  }
  if (config.version_policy().policy_choice_case() ==
      inference::ModelVersionPolicy::POLICY_CHOICE_NOT_SET) {
    diagnostics->Add("version_policy",
                     absl::StrCat("must specify 'version policy' for ", config.name()),
                     "one of latest, all, specific");
  }
  if (config.model_transaction_policy().decoupled() && config.response_cache().enable()) {
    diagnostics->Add("response_cache.enable",
                     absl::StrCat("Response Cache does not currently support model ", config.name(),
                                  " with 'decoupled' transaction policy. Please disable the "
                                  "response cache."),
                     "set it to false");
  }
  CheckParameters(config, diagnostics);
}

}  // namespace nereid
