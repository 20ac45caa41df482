// Instance: one copy of a model that executes one batch at a time. Owned by its InstanceRunner;
// initialised and finalised by the runner's thread, which also executes unless the instance is on
// loan (scheduling/scheduler.h).
#ifndef NEREID_EXECUTION_INSTANCE_H_
#define NEREID_EXECUTION_INSTANCE_H_

#include <absl/status/status.h>

#include "scheduling/scheduler.h"

namespace nereid {

class Instance : public BatchExecutor {
 public:
  // Called once, first. After an error only the destructor follows.
  virtual absl::Status Initialize() = 0;
  // Called once, last, if Initialize succeeded.
  virtual void Finalize() = 0;
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_INSTANCE_H_
