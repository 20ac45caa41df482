// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/behaviours.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <thread>

#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"
#include "backends/sdk/response_factory.h"
#include "backends/testing/first_int32.h"

namespace nereid_backend {
namespace {

using Requests = TRITONBACKEND_Request**;

// Executes a batch according to the rules; `body(request, response)` answers one request.
template <typename Body>
TRITONSERVER_Error* ForEach(TestingInstance& instance, Requests requests, uint32_t count,
                            Body&& body) {
  return RunBatch(instance.handle(), requests, count, [&](Batch& batch) -> Error {
    for (size_t i = 0; i < batch.size(); ++i) {
      const Result<int64_t> rows = RequestRows(instance.model().config(), batch.request(i));
      if (rows.ok()) batch.set_rows(i, *rows);
      Result<TRITONBACKEND_Response*> response = batch.Response(i);
      const Error error = response.ok() ? body(batch.request(i), *response) : response.TakeError();
      if (!error.ok()) batch.Fail(i, error);
    }
    return Error();
  });
}

TRITONSERVER_Error* Echo(TestingInstance& instance, Requests requests, uint32_t count) {
  return ForEach(instance, requests, count,
                 [&](TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
                   return instance.model().echo().Echo(request, response);
                 });
}

TRITONSERVER_Error* Slow(TestingInstance& instance, Requests requests, uint32_t count) {
  std::this_thread::sleep_for(instance.model().delay());
  return Echo(instance, requests, count);
}

// Requests whose first INT32 element is negative fail; the others are answered.
TRITONSERVER_Error* FailsSome(TestingInstance& instance, Requests requests, uint32_t count) {
  return ForEach(instance, requests, count,
                 [&](TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) -> Error {
                   NB_ASSIGN_OR_RETURN(const int32_t value, FirstInt32(request));
                   if (value < 0) {
                     return Error::InvalidArg(
                         StrCat("testing backend: refused the value ", value, " on purpose"));
                   }
                   return instance.model().echo().Echo(request, response);
                 });
}

// Never returns if the first INT32 element of any request is negative; otherwise echoes.
TRITONSERVER_Error* HangInExecute(TestingInstance& instance, Requests requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const Result<int32_t> value = FirstInt32(requests[i]);
    if (value.ok() && *value < 0) Hang();
  }
  return Echo(instance, requests, count);
}

TRITONSERVER_Error* Throws(TestingInstance&, Requests, uint32_t) {
  throw std::runtime_error("testing backend: ModelInstanceExecute threw on purpose");
}

Error ExecuteFailure() {
  return Error::Internal("testing backend: ModelInstanceExecute failed on purpose");
}

TRITONSERVER_Error* ErrorBeforeRelease(TestingInstance&, Requests, uint32_t) {
  return ExecuteFailure().release();
}

TRITONSERVER_Error* ErrorAfterReleasingSome(TestingInstance& instance, Requests requests,
                                            uint32_t count) {
  for (uint32_t i = 0; i < (count + 1) / 2; ++i) {
    EchoAndRelease(instance.model(), instance.handle(), requests[i]);
  }
  return ExecuteFailure().release();
}

TRITONSERVER_Error* KeepRequests(TestingInstance& instance, Requests requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    TRITONBACKEND_Request* request = requests[i];
    instance.worker().Add(instance.model().delay(), [&instance, request] {
      EchoAndRelease(instance.model(), instance.handle(), request);
    });
  }
  return nullptr;
}

TRITONSERVER_Error* NeverAnswers(TestingInstance&, Requests, uint32_t) { return nullptr; }

TRITONSERVER_Error* ReleasesWithoutAnswer(TestingInstance&, Requests requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL),
                    "release");
  }
  return nullptr;
}

TRITONSERVER_Error* AnswersTwice(TestingInstance& instance, Requests requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start = NowNs();
    for (int answer = 0; answer < 2; ++answer) {
      TRITONBACKEND_Response* response = nullptr;
      NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNew(&response, requests[i]), "response ", answer);
      if (response == nullptr) continue;
      const Error error = instance.model().echo().Echo(requests[i], response);
      if (answer == 1) {
        SendAndRelease(instance.handle(), requests[i], response, error, start);
      } else {
        NB_LOG_IF_ERROR(
            TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()),
            "send");
      }
    }
  }
  return nullptr;
}

TRITONSERVER_Error* DropsFactory(TestingInstance&, Requests requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    TRITONBACKEND_ResponseFactory* factory = nullptr;
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, requests[i]), "factory");
    NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL),
                    "release");
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryDelete(factory), "delete");
  }
  return nullptr;
}

// The last dimension of every output is larger by one than that of the input it should repeat.
TRITONSERVER_Error* WrongShape(TestingInstance& instance, Requests requests, uint32_t count) {
  return ForEach(
      instance, requests, count,
      [&](TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) -> Error {
        for (const TensorConfig& output : instance.model().config().outputs) {
          const std::string input_name(instance.model().echo().InputOf(output.name));
          NB_ASSIGN_OR_RETURN(const InputView input, InputView::Find(request, input_name.c_str()));
          Shape shape(input.dims, input.dims + input.dim_count);
          shape.back() += 1;
          const int64_t elements = ElementCount(shape.data(), shape.size());
          const size_t element_size = TRITONSERVER_DataTypeByteSize(output.type);
          const size_t size =
              static_cast<size_t>(elements) * (element_size > 0 ? element_size : sizeof(uint32_t));
          NB_ASSIGN_OR_RETURN(
              char* buffer, AllocateOutput(response, output.name.c_str(), output.type, shape.data(),
                                           static_cast<uint32_t>(shape.size()), size));
          std::fill(buffer, buffer + size, 0);
        }
        return Error();
      });
}

TRITONSERVER_Error* UnknownOutput(TestingInstance& instance, Requests requests, uint32_t count) {
  return ForEach(instance, requests, count,
                 [](TRITONBACKEND_Request*, TRITONBACKEND_Response* response) -> Error {
                   const int64_t shape[] = {1, 1};
                   return AllocateOutput(response, "NOT_AN_OUTPUT", TRITONSERVER_TYPE_INT32, shape,
                                         2, sizeof(int32_t))
                       .TakeError();
                 });
}

// Sends `responses` echoes and then the final flag: alone, or with the last of them.
Error SendDecoupled(TestingInstance& instance, TRITONBACKEND_Request* request,
                    TRITONBACKEND_ResponseFactory* factory) {
  const TestingModel& model = instance.model();
  int64_t responses = model.responses();
  if (responses < 0) {
    NB_ASSIGN_OR_RETURN(const int32_t asked, FirstInt32(request));
    responses = std::max(asked, 0);
  }
  for (int64_t n = 0; n < responses; ++n) {
    if (n > 0 || model.delay().count() > 0) std::this_thread::sleep_for(model.delay());
    if (!model.ignores_credit()) AwaitCredit(factory);
    TRITONBACKEND_Response* response = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory));
    const Error error = model.echo().Echo(request, response);
    const bool last = model.final_with_last() && n + 1 == responses;
    NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseSend(
        response, last ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0, error.get()));
    if (last) return Error();
  }
  return Error(
      TRITONBACKEND_ResponseFactorySendFlags(factory, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
}

TRITONSERVER_Error* Decoupled(TestingInstance& instance, Requests requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start = NowNs();
    TRITONBACKEND_ResponseFactory* factory = nullptr;
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, requests[i]), "factory");
    NB_LOG_IF_ERROR(SendDecoupled(instance, requests[i], factory), "decoupled responses");
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryDelete(factory), "delete");
    const uint64_t end = NowNs();
    NB_LOG_IF_ERROR(TRITONBACKEND_ModelInstanceReportStatistics(instance.handle(), requests[i],
                                                                true, start, start, end, end),
                    "statistics");
    NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL),
                    "release");
  }
  return nullptr;
}

// Answers CANCELLED as soon as the client cancels, or echoes after delay_ms.
TRITONSERVER_Error* WaitForCancel(TestingInstance& instance, Requests requests, uint32_t count) {
  constexpr std::chrono::milliseconds kPoll(1);
  return ForEach(instance, requests, count,
                 [&](TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) -> Error {
                   const auto deadline =
                       std::chrono::steady_clock::now() + instance.model().delay();
                   NB_LOG_INFO("testing backend: waits for a cancellation");
                   while (std::chrono::steady_clock::now() < deadline) {
                     bool cancelled = false;
                     NB_RETURN_IF_ERROR(TRITONBACKEND_RequestIsCancelled(request, &cancelled));
                     if (cancelled) {
                       NB_LOG_INFO("testing backend: saw the cancellation");
                       return Error(TRITONSERVER_ERROR_CANCELLED, "testing backend: cancelled");
                     }
                     std::this_thread::sleep_for(kPoll);
                   }
                   return instance.model().echo().Echo(request, response);
                 });
}

// Returns each request of a sequence to the server `times` times before answering it. Calls
// `afterwards` with each request, which is then released or given back.
template <typename Afterwards>
TRITONSERVER_Error* RescheduleThen(TestingInstance& instance, Requests requests, uint32_t count,
                                   const Afterwards& afterwards) {
  thread_local std::map<uint64_t, int64_t> rounds;  // by sequence; instances have their own thread
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t sequence = 0;
    NB_LOG_IF_ERROR(TRITONBACKEND_RequestCorrelationId(requests[i], &sequence), "correlation id");
    if (rounds[sequence] < instance.model().times()) {
      ++rounds[sequence];
      Error error(
          TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_RESCHEDULE));
      if (!error.ok()) {
        TRITONBACKEND_Response* response = nullptr;
        NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNew(&response, requests[i]), "response");
        SendAndRelease(instance.handle(), requests[i], response, error, NowNs());
      }
    } else {
      rounds.erase(sequence);
      EchoAndRelease(instance.model(), instance.handle(), requests[i]);
    }
    afterwards(requests[i]);
  }
  return nullptr;
}

TRITONSERVER_Error* Reschedule(TestingInstance& instance, Requests requests, uint32_t count) {
  return RescheduleThen(instance, requests, count, [](TRITONBACKEND_Request*) {});
}

// The same, and goes on to use the requests afterwards.
TRITONSERVER_Error* UsesReleased(TestingInstance& instance, Requests requests, uint32_t count) {
  return RescheduleThen(instance, requests, count, [&](TRITONBACKEND_Request* request) {
    NB_LOG_IF_ERROR(UseReleased(instance.handle(), request), "use of a released request");
  });
}

// Uses up the stack, whatever the compiler makes of a call at the end of a function.
__attribute__((noinline)) int Endless(volatile int* depth) {
  if (*depth < 0) return 0;  // never
  volatile char room[512];
  room[*depth % 512] = 1;
  *depth = *depth + 1;
  return Endless(depth) + room[*depth % 512];
}

// Requests whose first INT32 element is negative end the process; the others are answered.
TRITONSERVER_Error* OverflowStack(TestingInstance& instance, Requests requests, uint32_t count) {
  return ForEach(instance, requests, count,
                 [&](TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) -> Error {
                   NB_ASSIGN_OR_RETURN(const int32_t value, FirstInt32(request));
                   volatile int depth = 0;
                   if (value < 0) Endless(&depth);
                   return instance.model().echo().Echo(request, response);
                 });
}

// Adds the activity "testing" to the trace of each request, if it has one, and creates a child
// trace that stays unused.
TRITONSERVER_Error* Traces(TestingInstance& instance, Requests requests, uint32_t count) {
  return ForEach(
      instance, requests, count,
      [&](TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) -> Error {
        TRITONSERVER_InferenceTrace* trace = nullptr;
        NB_RETURN_IF_ERROR(TRITONBACKEND_RequestTrace(request, &trace));
        NB_RETURN_IF_ERROR(TRITONSERVER_InferenceTraceReportActivity(trace, NowNs(), "testing"));
        TRITONSERVER_InferenceTrace* child = nullptr;
        NB_RETURN_IF_ERROR(TRITONSERVER_InferenceTraceSpawnChildTrace(trace, &child));
        NB_RETURN_IF_ERROR(TRITONSERVER_InferenceTraceDelete(child));
        return instance.model().echo().Echo(request, response);
      });
}

struct NamedBehaviour {
  std::string_view name;
  ExecuteFn execute;
};
// The behaviours that concern loading (model.cc), readiness or the end (entry.cc) execute as echo.
constexpr NamedBehaviour kBehaviours[] = {
    {"echo", &Echo},
    {"slow", &Slow},
    {"fails_some", &FailsSome},
    {"hang_in_execute", &HangInExecute},
    {"overflow_stack", &OverflowStack},
    {"throws", &Throws},
    {"error_before_release", &ErrorBeforeRelease},
    {"error_after_releasing_some", &ErrorAfterReleasingSome},
    {"keep_requests", &KeepRequests},
    {"never_answers", &NeverAnswers},
    {"releases_without_answer", &ReleasesWithoutAnswer},
    {"answers_twice", &AnswersTwice},
    {"drops_factory", &DropsFactory},
    {"wrong_shape", &WrongShape},
    {"unknown_output", &UnknownOutput},
    {"decoupled", &Decoupled},
    {"wait_for_cancel", &WaitForCancel},
    {"reschedule", &Reschedule},
    {"uses_released", &UsesReleased},
    {"accumulate_state", &ExecuteAccumulateState},
    {"meet", &ExecuteMeet},
    {"environment", &ExecuteEnvironment},
    {"mixed_memory", &ExecuteMixedMemory},
    {"gpu_batches", &ExecuteGpuBatches},
    {"gpu_identity", &ExecuteGpuIdentity},
    {"output_properties", &ExecuteOutputProperties},
    {"places", &Echo},
    {"traces", &Traces},
    {"crash_on_load", &Echo},
    {"fail_on_load", &Echo},
    {"fail_first_loads", &Echo},
    {"slow_load", &Echo},
    {"instance_fail_on_load", &Echo},
    {"not_ready", &Echo},
    {"hang_in_ready", &Echo},
    {"hang_in_finalize", &Echo},
    {"hang_in_instance_finalize", &Echo},
    {"ready_hangs", &Echo},
};

}  // namespace

void Hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

ExecuteFn FindBehaviour(std::string_view name) {
  for (const NamedBehaviour& behaviour : kBehaviours) {
    if (behaviour.name == name) return behaviour.execute;
  }
  return nullptr;
}

void SendAndRelease(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                    TRITONBACKEND_Response* response, const Error& error, uint64_t start_ns) {
  const uint64_t end = NowNs();
  NB_LOG_IF_ERROR(TRITONBACKEND_ModelInstanceReportStatistics(instance, request, error.ok(),
                                                              start_ns, start_ns, end, end),
                  "statistics");
  if (response != nullptr) {
    NB_LOG_IF_ERROR(
        TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()),
        "send");
  }
  NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL),
                  "release");
}

void EchoAndRelease(const TestingModel& model, TRITONBACKEND_ModelInstance* instance,
                    TRITONBACKEND_Request* request) {
  const uint64_t start = NowNs();
  TRITONBACKEND_Response* response = nullptr;
  Error error(TRITONBACKEND_ResponseNew(&response, request));
  if (error.ok()) error = model.echo().Echo(request, response);
  SendAndRelease(instance, request, response, error, start);
}

}  // namespace nereid_backend
