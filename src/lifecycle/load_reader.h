// LoadReader: from what somebody wants to have loaded to all that a plan needs: where models lie,
// their configurations, those of ensembles' members. Blocks on file I/O. Thread-safe. Owned by the
// model manager.
#ifndef NEREID_LIFECYCLE_LOAD_READER_H_
#define NEREID_LIFECYCLE_LOAD_READER_H_

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lifecycle/load_planner.h"
#include "lifecycle/model_catalogue.h"
#include "lifecycle/model_reader.h"
#include "lifecycle/repository_list.h"
#include "repository/load_override.h"

namespace nereid {

using PreparedModels = std::map<ModelId, std::shared_ptr<const PreparedModel>>;

// Models to be worked on, and what there is to do.
struct LoadWork {
  LoadInput input;
  PreparedModels prepared;
};

class LoadReader {
 public:
  // All outlive this.
  LoadReader(ModelReader::Options options, const RepositoryList* repositories,
             ModelCatalogue* catalogue)
      : file_system_(*options.file_system),
        reader_(std::move(options)),
        repositories_(*repositories),
        catalogue_(*catalogue) {}

  // INVALID_ARGUMENT for a name that no model can have.
  static absl::Status CheckName(const std::string& name);
  // The one model that a client means by `name`, and where it lies. INTERNAL where it is nowhere,
  // INVALID_ARGUMENT where it could be several.
  absl::StatusOr<std::pair<ModelId, std::string>> Locate(const std::string& name) const;
  // What lies in `directory`; nothing for an empty one. INTERNAL.
  absl::StatusOr<ModelFiles> Scan(const ModelId& id, const std::string& directory) const;
  std::shared_ptr<const PreparedModel> Read(const ModelId& id, ModelFiles files,
                                            const LoadOverride& override) const;
  // A model whose members change, to be loaded as it was.
  std::shared_ptr<const PreparedModel> ReadAgain(
      const std::shared_ptr<const PreparedModel>& last) const;
  // Reads the members of `model` that do not serve, and theirs.
  void ReadMembers(const PreparedModel& model, LoadWork* work) const;
  // Reads what `actions` load that `prepared` does not have: ensembles whose members change.
  void ReadRest(const std::vector<PlannedAction>& actions, PreparedModels* prepared) const;

 private:
  const FileSystem& file_system_;
  const ModelReader reader_;
  const RepositoryList& repositories_;
  ModelCatalogue& catalogue_;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_READER_H_
