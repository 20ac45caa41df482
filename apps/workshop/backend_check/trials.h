// SPDX-License-Identifier: Apache-2.0
// The trials of a backend. Each runs in a process of its own, on the process's main thread, and
// reports to the recorder.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIALS_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIALS_H_

#include <string>

#include "base/clock.h"
#include "server/options.h"

namespace nereid {

struct TrialPlan {
  std::string library;
  std::string backend;   // its name
  ServerOptions server;  // with the trial's repository, in which the model is loaded at the start
  std::string model;     // its name
  bool made_up = false;  // nobody has named a model
  std::string folder;    // of the model in the trial's repository
  std::string json;      // the request to send; empty: one is made up
  Duration timeout{0};   // for one call of the backend, and for all answers to a wave of requests
};

// One life: the library, the model, requests alone and together, several instances, cancellation,
// the end.
void TryLife(const TrialPlan& plan);
// Many lives: what each leaves behind.
void TryAgain(const TrialPlan& plan);
// Another version of the interface: the backend has to refuse it.
void TryOtherVersion(const TrialPlan& plan);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIALS_H_
