// SPDX-License-Identifier: Apache-2.0
// Code shared by the behaviours. Stateless.
#ifndef NEREID_BACKENDS_TESTING_BEHAVIOURS_H_
#define NEREID_BACKENDS_TESTING_BEHAVIOURS_H_

#include "backends/sdk/error.h"
#include "backends/testing/model.h"

namespace nereid_backend {

// Never returns.
[[noreturn]] void Hang();

// Sends `response` with the final flag and `error` (which may be ok), reports statistics since
// `start_ns`, and releases the request.
void SendAndRelease(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                    TRITONBACKEND_Response* response, const Error& error, uint64_t start_ns);

// Answers one request by repeating its inputs, and releases it.
void EchoAndRelease(const TestingModel& model, TRITONBACKEND_ModelInstance* instance,
                    TRITONBACKEND_Request* request);

// Calls every function of a request with one that this thread has released in this call of Execute
// (released.cc). The error of the first one that did not do what is right.
Error UseReleased(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request);

// Behaviour accumulate_state (stateful.cc).
TRITONSERVER_Error* ExecuteAccumulateState(TestingInstance& instance,
                                           TRITONBACKEND_Request** requests, uint32_t count);

// Behaviour meet (meeting.cc).
TRITONSERVER_Error* ExecuteMeet(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                uint32_t count);

// Behaviour environment (environment.cc).
TRITONSERVER_Error* ExecuteEnvironment(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                       uint32_t count);

// Behaviour mixed_memory (mixed_memory.cc).
TRITONSERVER_Error* ExecuteMixedMemory(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                       uint32_t count);

// Behaviour gpu_identity (gpu_identity.cc).
TRITONSERVER_Error* ExecuteGpuIdentity(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                       uint32_t count);

// Behaviour gpu_batches (gpu_batches.cc).
TRITONSERVER_Error* ExecuteGpuBatches(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                      uint32_t count);

// Behaviour output_properties (output_properties.cc).
TRITONSERVER_Error* ExecuteOutputProperties(TestingInstance& instance,
                                            TRITONBACKEND_Request** requests, uint32_t count);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TESTING_BEHAVIOURS_H_
