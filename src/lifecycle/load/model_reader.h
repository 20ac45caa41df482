// ModelReader: reads what a load of a model needs: its configuration, and where its files are.
// Blocks on file I/O. Thread-safe.
#ifndef NEREID_LIFECYCLE_LOAD_MODEL_READER_H_
#define NEREID_LIFECYCLE_LOAD_MODEL_READER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/load_config.h"
#include "config/relations.h"
#include "filesystem/file_system.h"
#include "lifecycle/model/model_source.h"
#include "model/model_id.h"
#include "repository/load_override.h"
#include "repository/snapshot.h"

namespace nereid {

// A model as it is to be loaded. Immutable.
struct PreparedModel {
  ModelId id;
  ModelFiles files;       // in the repository
  std::string model_dir;  // the directory of its files: in the repository, or in `source`
  absl::StatusOr<ParsedConfig> config = absl::UnknownError("");  // or why there is none
  std::vector<EnsembleMember> members;
  bool from_request_files = false;  // the load request brought all its files
  // The configuration of a load request that replaces the repository's, if the files are the
  // repository's. In force until the files change or the model is unloaded.
  std::optional<std::string> config_override;
  // Keeps model_dir; null if the repository does. The loader of the model calls Leave in the end.
  std::shared_ptr<ModelSource> source;

  std::vector<std::string> MemberNames() const;
};

class ModelReader {
 public:
  struct Options {
    const FileSystem* file_system = nullptr;  // outlives this
    std::string model_config_name;
    bool auto_complete_config = true;
    RepositoryAgents* agents = nullptr;  // outlives this
  };

  explicit ModelReader(Options options) : options_(std::move(options)) {}

  // Reads a model. The repository agents that the configuration names prepare it. `rename`: the
  // model is called id.name whatever its configuration says.
  std::shared_ptr<const PreparedModel> Read(const ModelId& id, ModelFiles files, bool rename,
                                            const LoadOverride& override) const;

 private:
  absl::Status Prepare(const LoadOverride& override, ConfigSource* config_source,
                       PreparedModel* model) const;
  // The agents that the configuration names, which have prepared the model; null if there are none.
  absl::StatusOr<std::unique_ptr<AgentChain>> LoadAgents(const ConfigSource& config) const;

  const Options options_;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_MODEL_READER_H_
