// Instance: one copy of a model that executes one batch at a time. Owned and called by the thread
// of its InstanceRunner.
#ifndef NEREID_EXECUTION_INSTANCE_H_
#define NEREID_EXECUTION_INSTANCE_H_

#include <absl/status/status.h>

#include "scheduling/scheduler.h"

namespace nereid {

class Instance {
 public:
  virtual ~Instance() = default;
  // Called once, first. After an error only the destructor follows.
  virtual absl::Status Initialize() = 0;
  // Executes a batch. Every request of it is answered and released, now or later, whatever
  // happens; the instance can take the next batch when this returns.
  virtual void Execute(Batch batch) = 0;
  // Called once, last, if Initialize succeeded.
  virtual void Finalize() = 0;
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_INSTANCE_H_
