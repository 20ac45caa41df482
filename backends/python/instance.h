// SPDX-License-Identifier: Apache-2.0
// PythonInstance: an instance of a Python model, whose computation runs in a process. Used by the
// instance's thread, except for Ready.
#ifndef NEREID_BACKENDS_PYTHON_INSTANCE_H_
#define NEREID_BACKENDS_PYTHON_INSTANCE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "backends/python/execution.h"
#include "backends/python/model.h"
#include "backends/python/open_requests.h"
#include "backends/python/pace.h"
#include "backends/python/python_process.h"
#include "backends/python/suspects.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class PythonInstance {
 public:
  static Result<std::unique_ptr<PythonInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                        const PythonModel& model);
  // Calls the model's finalize and ends the process.
  ~PythonInstance();
  PythonInstance(const PythonInstance&) = delete;
  PythonInstance& operator=(const PythonInstance&) = delete;

  // From now on the object owns the requests.
  void Execute(TRITONBACKEND_Request** requests, uint32_t count);
  // Success if the process is serving and the model's is_ready, if there is one, agrees. An
  // instance that is busy is ready. Thread-safe; blocks for kReadyLimit at most.
  Error Ready();

 private:
  PythonInstance(TRITONBACKEND_ModelInstance* instance, const PythonModel& model)
      : instance_(instance),
        model_(model),
        open_(instance, model.config().decoupled, &model.outputs()),
        node_(&WaitGraph::Instance(), model.config().name) {
    model_.CountInstances(1);
  }

  // Executes requests, which the model gets together.
  void ExecuteTogether(std::vector<TRITONBACKEND_Request*> requests);
  // Executes requests one after the other, which the process may get together.
  void ExecuteSeparately(const std::vector<TRITONBACKEND_Request*>& requests);
  // Runs and removes the first of `executions`. After an error, which is that of the first of those
  // that are left, it is not finished.
  Error Run(std::deque<Execution>* executions);
  // The process of `life` has ended when it executed `execution`. Returns how. The requests become
  // suspects unless the process was killed from outside.
  Error Accuse(const Execution& execution, const std::shared_ptr<PythonProcess::Life>& life);
  // Takes note of an execution, and tells the server how many requests to give at a time.
  void Note(const Execution& execution);
  // Answers guilty requests, executes suspects alone, and returns the others.
  std::vector<TRITONBACKEND_Request*> SortOut(std::vector<TRITONBACKEND_Request*> requests);

  TRITONBACKEND_ModelInstance* const instance_;
  const PythonModel& model_;
  Pace pace_;
  OpenRequests open_;
  WaitGraph::Node node_;
  std::unique_ptr<PythonProcess> process_;  // last: uses the members above
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_INSTANCE_H_
