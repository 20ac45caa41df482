// PythonInstance: an instance of a Python model, whose process computes. Used by the thread that
// runs it, but for Ready.
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

  // The requests are this object's from here on.
  void Execute(TRITONBACKEND_Request** requests, uint32_t count);
  // Success when the process serves, and the model's is_ready, if it has one, says so. An instance
  // that is busy is ready. Thread-safe; blocks for kReadyLimit at most.
  Error Ready();

 private:
  PythonInstance(TRITONBACKEND_ModelInstance* instance, const PythonModel& model)
      : instance_(instance),
        model_(model),
        open_(instance, model.config().decoupled),
        node_(&WaitGraph::Instance(), model.config().name) {}

  // Requests that the process gets at a time.
  void ExecuteTogether(std::vector<TRITONBACKEND_Request*> requests);
  // Answers those that are guilty, executes suspects alone, and returns the others.
  std::vector<TRITONBACKEND_Request*> SortOut(std::vector<TRITONBACKEND_Request*> requests);

  TRITONBACKEND_ModelInstance* const instance_;
  const PythonModel& model_;
  OpenRequests open_;
  WaitGraph::Node node_;
  std::unique_ptr<PythonProcess> process_;  // last: it uses the others
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_INSTANCE_H_
