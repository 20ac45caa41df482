// SPDX-License-Identifier: Apache-2.0
#include "backends/python/instance.h"

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backends/python/execution.h"
#include "backends/python/ipc/control.h"
#include "backends/python/ipc/value.h"
#include "backends/python/request_message.h"
#include "backends/python/transport.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/error.h"
#include "backends/sdk/loan.h"
#include "backends/sdk/log.h"
#include "backends/sdk/server_function.h"
#include "nereid/backend.h"

namespace nereid_backend {
namespace {

using nereid_python::Command;
using nereid_python::Control;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;

// How long a model's is_ready and finalize may take.
constexpr uint64_t kReadyLimit = 5 * BackOff::kSecond;
constexpr uint64_t kFinalizeLimit = 20 * BackOff::kSecond;
// Ready waits this long for a busy process; if it stays busy, the instance counts as ready.
constexpr uint64_t kBusyLimit = BackOff::kSecond / 10;
constexpr uint64_t kQuarantineMinutes = Suspects::kQuarantineNs / BackOff::kSecond / 60;

// Executions that the process of a Python model gets by one command and executes one after the
// other. It replies to each when it is done, so the server answers one while the process executes
// the next.

// Sends the first of `executions`. Returns for each of them whether the process has got it: its
// requests may have turned out to be impossible to pass on.
Result<std::vector<bool>> Send(Transport* transport, std::deque<Execution>* executions) {
  std::vector<uint64_t> blocks;
  ClientFiles none;  // so small tensors are copied
  ValueWriter parts;
  std::vector<bool> sent;
  uint32_t count = 0;
  for (Execution& execution : *executions) {
    if (sent.size() == Control::kMostParts) break;
    sent.push_back(execution.Write({transport, &none, &blocks}, &parts));
    count += sent.back() ? 1 : 0;
  }
  if (count == 0) return sent;
  ValueWriter message;
  message.List(count);
  message.Append(parts);
  Error begun = transport->BeginEach(message, count);
  if (begun.ok()) return sent;
  // The process has not taken over the blocks.
  for (const uint64_t block : blocks) transport->Free(block);
  return begun;
}

// An error, whatever it is, must not keep the caller from waiting for the other parts, which the
// process executes.
Error TakePart(const std::shared_ptr<Transport>& transport, uint32_t part, uint64_t begun,
               Execution* execution) {
  return Guarded("ModelInstanceExecute", [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const Transport::PartReply reply, transport->AwaitPart(part));
    execution->Take(reply, begun, OutputSource(transport, /*lends=*/false));
    return Error();
  });
}

// Runs and finishes the first of `left`, removes them, and calls `done` for each before that. At
// most Control::kMostParts are run. UNAVAILABLE if the process has ended: it was executing the
// first of those that are left, and had not begun with the others.
Error RunSeparately(const std::shared_ptr<Transport>& transport, std::deque<Execution>* left,
                    const std::function<void(const Execution&)>& done) {
  const CommandTurn turn(transport.get());
  NB_ASSIGN_OR_RETURN(const std::vector<bool> sent, Send(transport.get(), left));
  uint32_t part = 0;
  uint64_t begun = 0;
  for (const bool has_part : sent) {
    Execution& execution = left->front();
    if (has_part) {
      Error taken = TakePart(transport, part++, begun, &execution);
      if (!taken.ok() && transport->closed()) return taken;
      if (!taken.ok()) execution.FailAll(taken);
      begun = execution.compute_end();
      done(execution);
    }
    execution.Finish();
    left->pop_front();
  }
  return Error();
}

}  // namespace

Result<std::unique_ptr<PythonInstance>> PythonInstance::Create(
    TRITONBACKEND_ModelInstance* instance, const PythonModel& model) {
  std::unique_ptr<PythonInstance> made(new PythonInstance(instance, model));
  const char* name = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceName(instance, &name));
  NB_ASSIGN_OR_RETURN(ValueWriter message, model.InitializeMessage(instance));
  made->process_ = model.TakeProcess();
  if (Error started =
          made->process_->Initialize(name, std::move(message), &made->open_, &made->node_,
                                     [instance](bool can) { SetAvailable(instance, can); });
      !started.ok()) {
    made->process_.reset();
    return started;
  }
  return made;
}

PythonInstance::~PythonInstance() {
  if (process_ != nullptr) process_->Finalize(kFinalizeLimit);
  model_.CountInstances(-1);
}

void PythonInstance::Execute(TRITONBACKEND_Request** requests, uint32_t count) {
  std::vector<TRITONBACKEND_Request*> batch(requests, requests + count);
  if (model_.suspects().any()) batch = SortOut(std::move(batch));
  if (batch.empty()) return;
  if (batch.size() > 1 && model_.executes_one_by_one()) {
    ExecuteSeparately(batch);
  } else {
    ExecuteTogether(std::move(batch));
  }
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
        model_.CountRefused();
        Execution refused(instance_, &open_, {request}, model_.config().batching());
        // Not UNAVAILABLE, because the same request had better not be sent again.
        refused.FailAll(Error::InvalidArg(
            StrCat("the request is refused: the process of Python model '", model_.config().name,
                   "' has ended twice when it executed a request with these inputs; ",
                   kQuarantineMinutes, " minutes after that it may be tried again")));
        refused.Finish();
    }
  }
  return others;
}

void PythonInstance::ExecuteTogether(std::vector<TRITONBACKEND_Request*> requests) {
  Execution execution(instance_, &open_, requests, model_.config().batching());
  const Error error = Guarded("ModelInstanceExecute", [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const std::shared_ptr<PythonProcess::Life> life, process_->Get());
    Error ran = execution.Run(life->transport);
    if (!ran.ok()) return life->transport->closed() ? Accuse(execution, life) : std::move(ran);
    if (model_.suspects().any() && requests.size() == 1) {
      model_.suspects().Acquit(FingerprintOf(requests[0]));
    }
    return Error();
  });
  if (!error.ok()) execution.FailAll(error);
  Note(execution);
  execution.Finish();
}

void PythonInstance::ExecuteSeparately(const std::vector<TRITONBACKEND_Request*>& requests) {
  std::deque<Execution> executions;
  for (TRITONBACKEND_Request* const request : requests) {
    executions.emplace_back(instance_, &open_, std::vector<TRITONBACKEND_Request*>{request},
                            model_.config().batching());
  }
  while (!executions.empty()) {
    const Error error = Guarded("ModelInstanceExecute", [&] { return Run(&executions); });
    if (error.ok()) continue;
    executions.front().FailAll(error);
    executions.front().Finish();
    executions.pop_front();
  }
}

Error PythonInstance::Run(std::deque<Execution>* executions) {
  NB_ASSIGN_OR_RETURN(const std::shared_ptr<PythonProcess::Life> life, process_->Get());
  Error ran = RunSeparately(life->transport, executions,
                            [this](const Execution& execution) { Note(execution); });
  if (ran.ok() || !life->transport->closed()) return ran;
  return Accuse(executions->front(), life);
}

Error PythonInstance::Accuse(const Execution& execution,
                             const std::shared_ptr<PythonProcess::Life>& life) {
  bool by_others = false;
  Error end = process_->EndOf(life, &by_others);
  if (by_others) return end;
  std::vector<uint64_t> fingerprints;
  for (TRITONBACKEND_Request* const request : execution.requests()) {
    fingerprints.push_back(FingerprintOf(request));
  }
  if (model_.suspects().Accuse(fingerprints)) {
    NB_LOG_ERROR("the process of Python model '", model_.config().name,
                 "' has ended twice when it executed a request with the same inputs: requests with "
                 "these inputs are refused for ",
                 kQuarantineMinutes, " minutes");
  }
  return end;
}

// With several instances, a request that one of them has taken might have found another one idle.
void PythonInstance::Note(const Execution& execution) {
  static const auto set_most = ServerFunction<decltype(NEREID_ModelInstanceSetMostSeparate)>(
      "NEREID_ModelInstanceSetMostSeparate");
  if (set_most == nullptr || !model_.executes_one_by_one() || execution.compute_end() == 0) return;
  if (execution.has_large_tensors() || model_.instances() > 1) {
    pace_.NoteAlone();
  } else {
    pace_.Note(execution.compute_ns());
  }
  NB_LOG_IF_ERROR(set_most(instance_, pace_.most()),
                  "failed to say how many requests an instance takes");
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
