// SPDX-License-Identifier: Apache-2.0
// Instance: one copy of a model that executes one batch at a time. Owned by its InstanceRunner. The
// runner's thread initialises and finalises the instance, and executes its batches unless the
// instance is on loan (scheduling/scheduler.h).
#ifndef NEREID_EXECUTION_INSTANCE_H_
#define NEREID_EXECUTION_INSTANCE_H_

#include <absl/status/status.h>

#include "scheduling/scheduler.h"

namespace nereid {

class Instance : public BatchExecutor {
 public:
  // Called once, before anything else. After an error only the destructor is called.
  virtual absl::Status Initialize() = 0;
  // Called once, at the end, if Initialize succeeded.
  virtual void Finalize() = 0;
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_INSTANCE_H_
