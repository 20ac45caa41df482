// PythonInstance: an instance of a Python model, whose computation runs in a process. Used by the
// instance's thread, except for Ready.
#ifndef NEREID_BACKENDS_PYTHON_INSTANCE_H_
#define NEREID_BACKENDS_PYTHON_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/python/model.h"
#include "backends/python/open_requests.h"
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
        open_(instance, model.config().decoupled),
        node_(&WaitGraph::Instance(), model.config().name) {}

  // Executes requests, which the process receives together.
  void ExecuteTogether(std::vector<TRITONBACKEND_Request*> requests);
  // Answers guilty requests, executes suspects alone, and returns the others.
  std::vector<TRITONBACKEND_Request*> SortOut(std::vector<TRITONBACKEND_Request*> requests);

  TRITONBACKEND_ModelInstance* const instance_;
  const PythonModel& model_;
  OpenRequests open_;
  WaitGraph::Node node_;
  std::unique_ptr<PythonProcess> process_;  // last: uses the members above
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_INSTANCE_H_
