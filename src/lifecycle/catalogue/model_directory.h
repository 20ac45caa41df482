// SPDX-License-Identifier: Apache-2.0
// ModelDirectory: which versions of which models there are, as one immutable snapshot. Every change
// replaces the snapshot by a new one (base/read_mostly.h), so that a request's look-up takes no
// lock. A thread may keep an old snapshot for as long as it likes: the snapshot holds only memory,
// and nobody waits for its end (ManagedModel::Close). With namespaces, names are found only in
// finished snapshots.
#ifndef NEREID_LIFECYCLE_CATALOGUE_MODEL_DIRECTORY_H_
#define NEREID_LIFECYCLE_CATALOGUE_MODEL_DIRECTORY_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lifecycle/catalogue/model_state.h"
#include "lifecycle/catalogue/sharing_map.h"
#include "lifecycle/model/managed_model.h"
#include "model/model_id.h"

namespace nereid {

struct ModelEntry {
  ModelId id;
  std::map<int64_t, VersionEntry> versions;
  std::string reason;  // why there are no versions, when there are none
  // The configuration was read and versions were looked for. From then on the server is ready only
  // if this model is.
  bool looked_for_versions = false;
  // Unloaded on purpose, or gone with its folder: with namespaces its name means other models.
  bool unloaded = false;
  // Replaced versions, in which sequences may live on.
  std::vector<std::weak_ptr<ManagedModel>> draining;

  // Whether a version is ready.
  bool serves() const;
};

struct ModelDirectory {
  SharingMap<ModelEntry> models;  // by ModelId::Text()
  bool namespacing = false;

  // Brings the index for look-ups by name up to date. REQUIRES: nothing is changed afterwards, and
  // the directory of which this is a changed copy is still there.
  void Finish();

  // The models called `name`, in whichever namespace, unloaded ones included.
  std::vector<const ModelEntry*> AllNamed(absl::string_view name) const;
  // The model that a client means by `name`. NOT_FOUND; with namespaces INVALID_ARGUMENT if there
  // is no such model, or several. Unloaded models count only where there are no others.
  absl::StatusOr<const ModelEntry*> FindEntry(absl::string_view name) const;
  // The model that an ensemble in `space` means by `name`: the model in `space`, or else the only
  // one of that name. Unloaded ones as above. Null if there is none, or several.
  const ModelEntry* FindMember(absl::string_view space, absl::string_view name) const;
  // Version `version`, or the highest ready one for a negative number. The errors are those of
  // docs/reference/models.md section 3.
  absl::StatusOr<std::shared_ptr<ManagedModel>> Find(absl::string_view name, int64_t version) const;
  // The replaced version of `entry` in which sequence `id` still lives: version `version`, or any
  // version for a negative number. Null if there is none.
  static std::shared_ptr<ManagedModel> FindSequence(const ModelEntry& entry, int64_t version,
                                                    const CorrelationId& id);
  // The same for the model that a client means by `name`.
  std::shared_ptr<ManagedModel> FindSequence(absl::string_view name, int64_t version,
                                             const CorrelationId& id) const;
  // The versions that have to be ready for the server to be. Nothing if one is missing (see
  // ReadinessRole), or a model has no versions.
  std::optional<std::vector<std::shared_ptr<ManagedModel>>> Expected() const;
  // Like Find, for a model that was already found.
  static absl::StatusOr<std::shared_ptr<ManagedModel>> FindVersion(const ModelEntry& entry,
                                                                   absl::string_view name,
                                                                   int64_t version);

 private:
  using Entries = std::vector<const ModelEntry*>;

  // With namespaces: the models that `name` may mean.
  Entries Candidates(absl::string_view name) const;

  SharingMap<Entries> by_name_;  // only with namespaces
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_CATALOGUE_MODEL_DIRECTORY_H_
