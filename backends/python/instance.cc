#include "backends/python/instance.h"

#include <utility>

#include "backends/python/execution.h"
#include "backends/python/request_message.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

using nereid_python::Command;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;

// How long a model's is_ready and finalize may take.
constexpr uint64_t kReadyLimit = 5 * BackOff::kSecond;
constexpr uint64_t kFinalizeLimit = 20 * BackOff::kSecond;
// Ready waits this long for a busy process; if it stays busy, the instance counts as ready.
constexpr uint64_t kBusyLimit = BackOff::kSecond / 10;

}  // namespace

Result<std::unique_ptr<PythonInstance>> PythonInstance::Create(
    TRITONBACKEND_ModelInstance* instance, const PythonModel& model) {
  std::unique_ptr<PythonInstance> made(new PythonInstance(instance, model));
  const char* name = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceName(instance, &name));
  NB_ASSIGN_OR_RETURN(ValueWriter message, model.InitializeMessage(instance));
  made->process_ = model.TakeProcess();
  if (Error started =
          made->process_->Initialize(name, std::move(message), &made->open_, &made->node_);
      !started.ok()) {
    made->process_.reset();
    return started;
  }
  return made;
}

PythonInstance::~PythonInstance() {
  if (process_ != nullptr) process_->Finalize(kFinalizeLimit);
}

void PythonInstance::Execute(TRITONBACKEND_Request** requests, uint32_t count) {
  std::vector<TRITONBACKEND_Request*> batch(requests, requests + count);
  if (model_.suspects().any()) batch = SortOut(std::move(batch));
  if (!batch.empty()) ExecuteTogether(std::move(batch));
}

std::vector<TRITONBACKEND_Request*> PythonInstance::SortOut(
    std::vector<TRITONBACKEND_Request*> requests) {
  std::vector<TRITONBACKEND_Request*> others;
  for (TRITONBACKEND_Request* const request : requests) {
    switch (model_.suspects().Judge(FingerprintOf(request))) {
      case Suspects::Verdict::kUnknown:
        others.push_back(request);
        break;
      case Suspects::Verdict::kSuspect:
        ExecuteTogether({request});
        break;
      case Suspects::Verdict::kGuilty:
        Execution refused(instance_, &open_, {request}, model_.config().batching());
        refused.FailAll(Error(
            TRITONSERVER_ERROR_UNAVAILABLE,
            StrCat("the request is refused: the process of Python model '", model_.config().name,
                   "' has ended twice when it executed a request with these inputs")));
        refused.Finish();
    }
  }
  return others;
}

void PythonInstance::ExecuteTogether(std::vector<TRITONBACKEND_Request*> requests) {
  Execution execution(instance_, &open_, requests, model_.config().batching());
  const Error error = Guarded("ModelInstanceExecute", [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const std::shared_ptr<PythonProcess::Life> life, process_->Get());
    const Error ran = execution.Run(life->transport);
    if (ran.ok()) {
      if (model_.suspects().any() && requests.size() == 1) {
        model_.suspects().Acquit(FingerprintOf(requests[0]));
      }
      return Error();
    }
    if (!life->transport->closed()) return Error(ran.code(), ran.message());
    std::vector<uint64_t> fingerprints;
    for (TRITONBACKEND_Request* const request : requests) {
      fingerprints.push_back(FingerprintOf(request));
    }
    model_.suspects().Accuse(fingerprints);
    return process_->EndOf(life);
  });
  if (!error.ok()) execution.FailAll(error);
  execution.Finish();
}

Error PythonInstance::Ready() {
  NB_RETURN_IF_ERROR(process_->Ready());
  if (!process_->has_is_ready()) return Error();
  NB_ASSIGN_OR_RETURN(const std::shared_ptr<PythonProcess::Life> life, process_->Get());
  const CommandTurn turn(life->transport.get(), kBusyLimit);
  if (!turn.held()) return Error();
  ValueWriter none;
  none.None();
  NB_ASSIGN_OR_RETURN(const std::string_view reply,
                      life->transport->Run(Command::kReady, none, kReadyLimit));
  ValueReader reader(reply);
  reader.List();
  if (reader.Bool()) return Error();
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("Python model '", model_.config().name, "' is not ready: ", reader.Text()));
}

}  // namespace nereid_backend
