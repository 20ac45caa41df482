// SPDX-License-Identifier: Apache-2.0
// ParsedConfig: one model's configuration on its way from text to CompiledModel. A value: each
// model version being loaded owns a copy. Hides protobuf from the rest of the server.
// Thread-compatible.
//
//   LoadModelConfig(...)                    text -> completed, normalised, checked
//   NormalizeInstanceGroups(rules)          once the backend is known
//   MergeBackendUpdate(json)                if the backend completes the configuration
//   Compile(version)                        last checks -> CompiledModel
#ifndef NEREID_CONFIG_PARSED_CONFIG_H_
#define NEREID_CONFIG_PARSED_CONFIG_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "config/version_policy.h"

namespace nereid::inference {
class ModelConfig;
}

namespace nereid {

// An instance group that a backend prefers. Lists are in the backend's order of preference.
struct PreferredGroup {
  InstanceKind kind = InstanceKind::kCpu;
  uint64_t count = 0;  // 0: no opinion
  std::vector<int64_t> device_ids;
};

// What decides on which devices the instances of a model run.
struct PlacementRules {
  std::vector<PreferredGroup> preferred;
  std::vector<int> gpus;              // that the server uses, ascending; empty: none
  double min_compute_capability = 0;  // of a GPU in use, for texts
  bool computes_on_cpus = false;      // the backend has no code for GPUs
};

class ParsedConfig {
 public:
  // `provided`: someone wrote this configuration (a file or a load parameter), as opposed to the
  // empty configuration that automatic completion starts from. Writes the defaults into it.
  ParsedConfig(std::unique_ptr<inference::ModelConfig> proto, bool provided);
  ParsedConfig(const ParsedConfig& other);
  ParsedConfig& operator=(const ParsedConfig& other);
  ParsedConfig(ParsedConfig&&) noexcept;
  ParsedConfig& operator=(ParsedConfig&&) noexcept;
  ~ParsedConfig();

  const std::string& name() const;
  const std::string& backend() const;
  const std::string& platform() const;
  // Backend library to use instead of libtriton_<backend>.so; mostly empty.
  const std::string& runtime() const;
  const std::string& default_model_filename() const;
  std::map<std::string, std::string> parameters() const;
  VersionPolicy version_policy() const;
  bool is_ensemble() const;

  // The configuration as JSON (configuration version 1), in the form that clients and backends
  // read.
  std::string Json() const;

  // Lines for the log: one for each field that is set but has no effect on this server and, where
  // there are GPUs, for each instance group one that says where it runs, and why.
  const std::vector<std::string>& notes() const { return notes_; }

  // Names the groups, fills in kind, count and GPUs, and adds a default group if there is none.
  // INVALID_ARGUMENT, naming every problem, if a group cannot be served; the configuration must
  // then be discarded.
  absl::Status NormalizeInstanceGroups(const PlacementRules& rules);

  // Takes over from `json` what a backend may complete (batch size, inputs, outputs, the scheduling
  // choice if there is none, the transaction policy) and normalises again. INVALID_ARGUMENT for bad
  // JSON or an unknown `config_version`, INTERNAL for a different scheduling choice. After an error
  // the configuration is unchanged.
  absl::Status MergeBackendUpdate(uint32_t config_version, absl::string_view json);

  // Records the runtime of the model if it was found rather than configured.
  void SetRuntime(const std::string& runtime);

  // Records whether requests may have any number of responses, which for an ensemble depends on its
  // steps.
  void SetDecoupled(bool decoupled);

  // Runs all checks once more, now that the backend has completed the configuration. NOT_FOUND if
  // neither a file nor the backend gave a configuration, INVALID_ARGUMENT naming every problem
  // otherwise. REQUIRES: NormalizeInstanceGroups succeeded.
  absl::StatusOr<CompiledModel> Compile(int64_t version) const;

  // The error of Compile for a parameter of TensorFlow Serving's API that is wrong, whose name is
  // then `*wrong`. OK if the backend has to complete inputs or outputs first.
  absl::Status CheckTfsParameters(std::string* wrong) const;

  // For config/ only.
  const inference::ModelConfig& proto() const { return *proto_; }

 private:
  std::unique_ptr<inference::ModelConfig> proto_;
  bool provided_;
  std::vector<std::string> notes_;
  PlacementRules rules_;  // of the last NormalizeInstanceGroups
};

}  // namespace nereid

#endif  // NEREID_CONFIG_PARSED_CONFIG_H_
