// SPDX-License-Identifier: Apache-2.0
// The life of a model's versions: one state machine. Whether a version takes requests, what the
// repository's index says of it and whether the server waits for it to be ready follow from its
// state.
//
//                kLoadBegins             kServes           kRetires, kLeftOut
//   (no entry) ---------------> Loading ---------> Ready ----------------------> Draining
//                                |   ^                                              |
//                     kLoadFails |   | kLoadBegins, from Failed,                    | kTornDown
//                                v   | Draining and Retired                         v
//                               Failed ----------------------------------------> Retired
//                                                    kRetires
//
// An event that the picture does not have in some state leaves that state as it is: a Ready version
// stays Ready while its successor loads, and if the successor fails. If it succeeds, kServes gives
// the Ready version another model. A Failed or Retired version that a later load leaves out loses
// its entry; if a model that it had before is still being torn down, it is Draining once more
// (kLeftOut).
//
// Which versions there are is known only when the model's files have been read. What is done to the
// model as a whole, from there on to the end of its versions' loads, is a claim of the catalogue
// (BusyModel): while somebody holds it, nobody else causes an event but kTornDown.
#ifndef NEREID_LIFECYCLE_CATALOGUE_MODEL_STATE_H_
#define NEREID_LIFECYCLE_CATALOGUE_MODEL_STATE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lifecycle/model/managed_model.h"

namespace nereid {

enum class VersionState {
  kAbsent,    // no entry, or one on which nothing has happened yet
  kLoading,   // its files were found, and it does not serve yet
  kReady,     // takes requests
  kDraining,  // takes no new requests; those in flight go on
  kFailed,    // its last load failed, and none before serves
  kRetired,   // was taken out of service, and is torn down
};

enum class VersionEvent {
  kLoadBegins,  // a load has found the version's files
  kServes,      // all versions of the load are loaded, and take their places in one step
  kLoadFails,   // this version, or another one of the same load, could not be loaded
  kRetires,     // the model is unloaded: on request, with its folder, or for lack of a member
  kLeftOut,     // a load has put other versions in place; this one serves or is being torn down
  kTornDown,    // nothing was in flight in the version's model any more, and its parts have ended
};

// The state after `event`. Pure.
VersionState After(VersionState state, VersionEvent event);

// What the repository's index calls a state.
const char* VersionStateName(VersionState state);

// What a version means for whether the server is ready.
enum class ReadinessRole {
  kAsked,    // the server is ready only if the version says that it is
  kIgnored,  // it was taken out of service, or comes beside another version that serves
  kMissing,  // it should serve and does not: the server is not ready
};
// `model_serves`: some version of the model is Ready.
ReadinessRole RoleInReadiness(VersionState state, bool model_serves);

// A version in the directory. Its state changes only by the events above. Thread-compatible.
class VersionEntry {
 public:
  VersionState state() const { return state_; }
  bool ready() const { return state_ == VersionState::kReady; }
  // Why the version does not serve.
  const std::string& reason() const { return reason_; }
  // The model that serves, or that is being torn down; may be null in the other states, too.
  const std::shared_ptr<ManagedModel>& model() const { return model_; }

  void BeginLoad();
  // `model` takes the place of the one before, if there is one.
  void Serve(std::shared_ptr<ManagedModel> model);
  void FailLoad(std::string reason);
  // `reason`: empty if on purpose.
  void Retire(const std::string& reason);
  // REQUIRES: model() is not null. Otherwise nothing is left of the version, and its entry can go.
  void LeaveOut() { state_ = After(state_, VersionEvent::kLeftOut); }
  void TornDown(const std::string& reason);

 private:
  VersionState state_ = VersionState::kAbsent;
  std::string reason_;
  std::shared_ptr<ManagedModel> model_;
};

// A model on which somebody works, who holds the catalogue's mark of it.
//
//          a claim                      the mark goes
//   free ----------> busy, once ----------------------> free
//                       |   ^
//   a plan leaves the   |   |  the load has ended, and begins again under the same mark
//   model out           v   |
//                    busy, again  (an unload that ends does not begin again: free)
struct BusyModel {
  // The names of the members, if the model is being loaded and its claimer has read them.
  std::optional<std::vector<std::string>> members;
  bool again = false;  // to be loaded again afterwards
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_CATALOGUE_MODEL_STATE_H_
