// ParsedConfig: one model's configuration on its way from text to CompiledModel. A value: each
// model version being created owns a copy. Hides protobuf from the rest of the server.
// Thread-compatible.
//
//   LoadModelConfig(...)                    text -> completed, normalised, checked
//   NormalizeInstanceGroups(preferred)      once the backend is known
//   MergeBackendUpdate(json)                if the backend completes the configuration
//   Compile(version)                        last checks -> CompiledModel
#ifndef NEREID_CONFIG_PARSED_CONFIG_H_
#define NEREID_CONFIG_PARSED_CONFIG_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "config/version_policy.h"

namespace inference {
class ModelConfig;
}

namespace nereid {

// An instance group that a backend says it prefers, in its order of preference.
struct PreferredGroup {
  InstanceKind kind = InstanceKind::kCpu;
  uint64_t count = 0;  // 0: no opinion
  std::vector<int64_t> device_ids;
};

class ParsedConfig {
 public:
  // `provided`: someone wrote this configuration (a file or a load parameter), as opposed to the
  // empty one that automatic completion starts from. Writes the defaults into it.
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
  VersionPolicy version_policy() const;
  bool is_ensemble() const;

  // The configuration as JSON (configuration version 1), as clients and backends read it.
  std::string Json() const;

  // Fields that were set but change nothing on this server, one log line each.
  const std::vector<std::string>& notes() const { return notes_; }

  // Names the groups, fills in kind and count, a default group if there is none.
  // INVALID_ARGUMENT, naming every problem, when a group cannot be served; the configuration is
  // then to be discarded.
  absl::Status NormalizeInstanceGroups(absl::Span<const PreferredGroup> preferred);

  // Takes over what a backend may complete (batch size, inputs, outputs, scheduling choice if
  // none, transaction policy) from `json` and normalises again. INVALID_ARGUMENT for bad JSON or
  // an unknown `config_version`, INTERNAL for a different scheduling choice; this is then
  // unchanged.
  absl::Status MergeBackendUpdate(uint32_t config_version, absl::string_view json);

  // Notes what runs the model, where that was found rather than configured.
  void SetRuntime(const std::string& runtime);

  // Notes whether requests may have any number of responses, as an ensemble's steps say.
  void SetDecoupled(bool decoupled);

  // All checks once more, now that the backend has had its say. NOT_FOUND when neither file nor
  // backend gave a configuration, INVALID_ARGUMENT naming every problem otherwise.
  // REQUIRES: NormalizeInstanceGroups succeeded.
  absl::StatusOr<CompiledModel> Compile(int64_t version) const;

  // For config/ only.
  const inference::ModelConfig& proto() const { return *proto_; }

 private:
  std::unique_ptr<inference::ModelConfig> proto_;
  bool provided_;
  std::vector<std::string> notes_;
};

}  // namespace nereid

#endif  // NEREID_CONFIG_PARSED_CONFIG_H_
