// SPDX-License-Identifier: Apache-2.0
// Which thread and which instance may execute: executions by threads that serve connections
// (NEREID_ModelExecutesBriefly), and instances that cannot execute for a while. A server without
// these functions executes on the instance's thread alone, and gives work to all instances.
// Stateless; thread-safe.
#ifndef NEREID_BACKENDS_SDK_LOAN_H_
#define NEREID_BACKENDS_SDK_LOAN_H_

#include "backends/sdk/error.h"
#include "backends/sdk/log.h"
#include "backends/sdk/server_function.h"
#include "nereid/backend.h"

namespace nereid_backend {

// To be called within TRITONBACKEND_ModelInitialize: while executions of this model are short, the
// server may have them done by threads that must not wait.
inline void SayExecutesBriefly(TRITONBACKEND_Model* model) {
  static const auto say =
      ServerFunction<decltype(NEREID_ModelExecutesBriefly)>("NEREID_ModelExecutesBriefly");
  if (say != nullptr) NB_LOG_IF_ERROR(say(model), "failed to let other threads execute a model");
}

// Within TRITONBACKEND_ModelInstanceExecute: whether the calling thread must not wait.
inline bool OnLoan(TRITONBACKEND_ModelInstance* instance) {
  static const auto ask =
      ServerFunction<decltype(NEREID_ModelInstanceOnLoan)>("NEREID_ModelInstanceOnLoan");
  bool on_loan = false;
  if (ask != nullptr) NB_LOG_IF_ERROR(ask(instance, &on_loan), "failed to ask whose thread it is");
  return on_loan;
}

// Whether other threads may execute with `instance` from now on; at first they may. Any thread.
inline void SetLendable(TRITONBACKEND_ModelInstance* instance, bool lendable) {
  static const auto set =
      ServerFunction<decltype(NEREID_ModelInstanceSetLendable)>("NEREID_ModelInstanceSetLendable");
  if (set != nullptr) NB_LOG_IF_ERROR(set(instance, lendable), "failed to say who may execute");
}

// Whether `instance` can execute from now on; at first it can. While it cannot, others of its model
// get its work if they can. Any thread that holds no lock.
inline void SetAvailable(TRITONBACKEND_ModelInstance* instance, bool available) {
  static const auto set = ServerFunction<decltype(NEREID_ModelInstanceSetAvailable)>(
      "NEREID_ModelInstanceSetAvailable");
  if (set != nullptr) NB_LOG_IF_ERROR(set(instance, available), "failed to say who can execute");
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_LOAN_H_
