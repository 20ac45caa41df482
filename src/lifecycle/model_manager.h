// ModelManager: loads and unloads the models of the repositories and knows their states.
// Thread-safe. Owned by the server.
#ifndef NEREID_LIFECYCLE_MODEL_MANAGER_H_
#define NEREID_LIFECYCLE_MODEL_MANAGER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/read_mostly.h"
#include "lifecycle/load_pool.h"
#include "lifecycle/loaded_model.h"
#include "lifecycle/model_directory.h"

namespace nereid {

struct ModelManagerOptions {
  std::set<std::string> repositories;
  std::string model_config_name;
  bool auto_complete_config = true;
  uint32_t load_threads = 4;
  uint32_t load_retries = 0;
};

class ModelManager {
 public:
  // `context` and what it points to outlive this.
  ModelManager(ModelManagerOptions options, LoadContext context);
  // REQUIRES: UnloadAll was called and every model is gone, or the process is ending.
  ~ModelManager();

  // INVALID_ARGUMENT unless every repository is a readable directory.
  absl::Status CheckRepositories() const;
  // Loads every model found, in parallel; blocks until each has loaded or failed. Returns the names
  // of those that failed; their states say why.
  std::vector<std::string> LoadAll();
  // Loads one model, beside the version that serves meanwhile, and swaps. Blocks. On an error the
  // versions that served before still serve.
  absl::Status Load(const std::string& name);
  // Stops serving a model; its requests in flight finish in the background. OK if it is unknown.
  absl::Status Unload(const std::string& name);

  absl::StatusOr<std::shared_ptr<LoadedModel>> Find(absl::string_view name, int64_t version) const {
    return directory_.Get()->Find(name, version);
  }
  // See ModelDirectory.
  std::shared_ptr<LoadedModel> FindSequence(absl::string_view name, int64_t version,
                                            const CorrelationId& id) const;
  // The picture of this moment.
  const ModelDirectory& Directory() const { return *directory_.Get(); }
  // Model names in the repositories, loaded or not.
  std::set<std::string> RepositoryModels() const;

  // Closes the admission of every model.
  void CloseAdmission();
  // Whether a sequence of requests lives in some model, also in one that was replaced.
  bool HasSequences() const;
  // Waits until none does; false if `deadline` comes first.
  bool WaitSequencesEnded(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until no request is in flight; false, and a log line for each model that still has some,
  // if `deadline` comes first.
  bool WaitIdle(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Begins to unload everything. Waits for loads that are under way; a model whose load has not
  // ended at `deadline` is left alone.
  void UnloadAll(TimePoint deadline = TimePoint::max()) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until no model is being loaded and all that are unloaded are torn down; false if
  // `deadline` comes first.
  bool WaitUnloaded(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Where a model's directory is, or why it cannot be loaded.
  absl::StatusOr<std::string> FindModelDir(const std::string& name) const;
  struct VersionResult {
    int64_t version;
    absl::StatusOr<std::shared_ptr<LoadedModel>> model;
  };
  absl::Status LoadFrom(const std::string& name, const std::string& model_dir);
  std::vector<VersionResult> LoadVersions(const ParsedConfig& config, const std::string& model_dir,
                                          const std::vector<int64_t>& versions);
  absl::StatusOr<std::shared_ptr<LoadedModel>> LoadVersion(const ParsedConfig& config,
                                                           const std::string& model_dir,
                                                           int64_t version);
  // One try of LoadVersion. INTERNAL where the machine refuses a thread or memory.
  absl::StatusOr<std::shared_ptr<LoadedModel>> LoadCaught(const ParsedConfig& config,
                                                          const std::string& model_dir,
                                                          int64_t version);
  // What became of loading `versions`: swaps all in, or none.
  absl::Status Commit(const std::string& name, std::vector<VersionResult> results);
  // Waits until nobody loads `name`; false if `deadline` comes first.
  bool WaitNotBusy(const std::string& name, TimePoint deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Stops serving what is ready of `name`.
  void Retire(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // One text for each model version with requests in flight.
  std::vector<std::string> InFlight() const;
  // A model whose configuration or versions cannot even be read.
  void NoteFailure(const std::string& name, const absl::Status& error);
  void CloseVersion(const std::string& name, int64_t version, std::shared_ptr<LoadedModel> model);

  template <typename Change>
  void Update(const Change& change) ABSL_LOCKS_EXCLUDED(mu_);

  const ModelManagerOptions options_;
  const LoadContext context_;
  ReadMostly<ModelDirectory> directory_;
  // Serialises loads and unloads of the same model.
  Mutex mu_;
  CondVar changed_;
  ModelDirectory current_ ABSL_GUARDED_BY(mu_);  // directory_ is its last published copy
  std::set<std::string> busy_ ABSL_GUARDED_BY(mu_);
  int64_t closing_ ABSL_GUARDED_BY(mu_) = 0;  // versions being torn down
  // A model being loaded takes a thread of its own only to wait for its versions.
  LoadPool version_pool_;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_MANAGER_H_
