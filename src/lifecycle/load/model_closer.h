// SPDX-License-Identifier: Apache-2.0
// ModelCloser: takes versions out of the directory, closes them, and tears each down when it has
// nothing in flight any more. Thread-safe. Owned by the model manager.
#ifndef NEREID_LIFECYCLE_LOAD_MODEL_CLOSER_H_
#define NEREID_LIFECYCLE_LOAD_MODEL_CLOSER_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "lifecycle/catalogue/model_catalogue.h"
#include "lifecycle/model/managed_model.h"
#include "lifecycle/model/reaper.h"

namespace nereid {

class ModelCloser {
 public:
  // Everything that the end of a version needs, made beforehand: from here on nothing can fail.
  struct Closing {
    std::shared_ptr<ManagedModel> model;
    std::multiset<std::string> name;  // one, for closing_
    ManagedModel::PreparedClose close;
  };

  // Both outlive this.
  ModelCloser(Clock* clock, ModelCatalogue* catalogue) : clock_(clock), catalogue_(*catalogue) {}

  // Throws if memory is exhausted. `reason`: empty if on purpose.
  Closing Prepare(const ModelId& id, int64_t version, const std::shared_ptr<ManagedModel>& model,
                  const std::string& reason);
  // Each is torn down once nothing is in flight in it. Does not wait for that.
  void Close(std::vector<Closing> closings) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Stops serving the ready versions of a model. `reason`: empty if on purpose.
  void Retire(const ModelId& id, const std::string& reason) ABSL_LOCKS_EXCLUDED(mu_);
  // Retires an ensemble that serves but does not fit the members that serve now.
  void RetireMisfits(const ModelId& id) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends versions and removed instances.
  Reaper* reaper() { return &reaper_; }

  // ---- All models.
  // Closes the admission of every version.
  void CloseAdmission();
  // No model waits for slow clients any more.
  void StopWaitingForClients();
  // Waits until no request is in flight and no sequence lives, also in replaced versions; false if
  // `deadline` comes first. Logs once per second how many each version still has.
  bool WaitIdle(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Retires every model. A model that others still work on at `deadline` is left alone.
  void RetireAll(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until all versions that were closed are torn down; false if `deadline` comes first.
  bool WaitClosed(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // One sentence per version that has requests in flight.
  std::vector<std::string> InFlight() const;
  // One sentence per version that is being torn down.
  std::vector<std::string> Unfinished() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Clock* const clock_;
  ModelCatalogue& catalogue_;
  mutable Mutex mu_;
  CondVar changed_;
  std::multiset<std::string> closing_ ABSL_GUARDED_BY(mu_);  // versions being torn down
  Reaper reaper_;                                            // last: its jobs use all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_MODEL_CLOSER_H_
