// SPDX-License-Identifier: Apache-2.0
// LoadReader: reads everything that a load plan needs: the models' locations, their configurations
// and those of ensembles' members. Repository agents prepare a model before it is read. Blocks on
// file I/O. Thread-safe. Owned by the model manager.
#ifndef NEREID_LIFECYCLE_LOAD_LOAD_READER_H_
#define NEREID_LIFECYCLE_LOAD_LOAD_READER_H_

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lifecycle/catalogue/model_catalogue.h"
#include "lifecycle/load/repository_list.h"
#include "lifecycle/model/prepared_model.h"
#include "lifecycle/plan/load_planner.h"
#include "repository/load_override.h"

namespace nereid {

using PreparedModels = std::map<ModelId, std::shared_ptr<const PreparedModel>>;

class LoadReader {
 public:
  struct Options {
    const FileSystem* file_system = nullptr;  // outlives this
    std::string model_config_name;
    bool auto_complete_config = true;
    RepositoryAgents* agents = nullptr;  // outlives this
  };

  // All arguments' targets outlive this object.
  LoadReader(Options options, const RepositoryList* repositories, ModelCatalogue* catalogue)
      : options_(std::move(options)),
        file_system_(*options_.file_system),
        repositories_(*repositories),
        catalogue_(*catalogue) {}

  // INVALID_ARGUMENT for a name that no model can have.
  static absl::Status CheckName(const std::string& name);
  // The models that a client means by `name`, and their directories: several only where namespaces
  // tell them apart. INTERNAL if there is no such model, INVALID_ARGUMENT if the name is ambiguous.
  using Places = std::map<ModelId, std::string>;
  absl::StatusOr<Places> Locate(const std::string& name) const;
  // The files in `directory`; none if the path is empty. INTERNAL.
  absl::StatusOr<ModelFiles> Scan(const ModelId& id, const std::string& directory) const;
  // Reads a model. What is wrong with its configuration is in the result.
  std::shared_ptr<const PreparedModel> Read(const ModelId& id, ModelFiles files,
                                            const LoadOverride& override) const;
  // Reads an ensemble whose members change, to be loaded again as before.
  std::shared_ptr<const PreparedModel> ReadAgain(
      const std::shared_ptr<const PreparedModel>& last) const;
  // Reads the members of `model` that do not serve, and in turn their members, into `input->found`
  // and `prepared`. Not recursive.
  void ReadMembers(const PreparedModel& model, LoadInput* input, PreparedModels* prepared) const;
  // Reads the models that `actions` load and that `prepared` lacks: ensembles whose members change.
  void ReadRest(const std::vector<PlannedAction>& actions, PreparedModels* prepared) const;

 private:
  // Makes the model's files what they are to be: writes those of the request to a folder, or copies
  // those from far away, and has the repository agents work on them. Notes where they are then in
  // `model` and `config_source`.
  absl::Status Prepare(const LoadOverride& override, ConfigSource* config_source,
                       PreparedModel* model) const;
  // The agents that the configuration names, which have prepared the model; null if there are none.
  absl::StatusOr<std::unique_ptr<AgentChain>> LoadAgents(const ConfigSource& config) const;

  const Options options_;
  const FileSystem& file_system_;
  const RepositoryList& repositories_;
  ModelCatalogue& catalogue_;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_LOAD_READER_H_
