// SPDX-License-Identifier: Apache-2.0
// The numbers in the messages between the server and the process of a Python model: commands, calls
// and the places of a request's fields. This is the only list of them. The native module hands them
// to the runtime's Python files under the names in capitals (COMMAND_EXECUTE, CALL_SEND,
// FIELD_HANDLE). Server and process are always built together, so the numbers may change.
#ifndef NEREID_BACKENDS_PYTHON_IPC_PROTOCOL_H_
#define NEREID_BACKENDS_PYTHON_IPC_PROTOCOL_H_

#include <cstdint>

namespace nereid_python {

// Commands of the server to the process, one at a time. The messages are values (value.h).
#define NEREID_PYTHON_COMMANDS(X)                                                       \
  X(Initialize, INITIALIZE, 1)                                                          \
  X(AutoComplete, AUTO_COMPLETE, 2)                                                     \
  X(Execute, EXECUTE, 3)                                                                \
  X(Finalize, FINALIZE, 4)                                                              \
  X(Ready, READY, 5)                                                                    \
  /* Several batches, one after the other, each with a reply of its own: see Part. */   \
  X(ExecuteEach, EXECUTE_EACH, 6)                                                       \
  /* Give memory back that was not needed for a while; the model sees nothing of it. */ \
  X(Trim, TRIM, 7)

// What the process tells the server without waiting.
#define NEREID_PYTHON_POSTS(X)                   \
  X(Send, SEND, 1)                               \
  X(Closed, CLOSED, 2)                           \
  X(Log, LOG, 3)                                 \
  X(StreamClose, STREAM_CLOSE, 4)                \
  X(MetricFamilyDelete, METRIC_FAMILY_DELETE, 5) \
  X(MetricDelete, METRIC_DELETE, 6)              \
  X(StreamCancel, STREAM_CANCEL, 7)

// What the process asks the server.
#define NEREID_PYTHON_QUESTIONS(X)          \
  X(IsCancelled, IS_CANCELLED, 16)          \
  X(Infer, INFER, 17)                       \
  X(StreamNext, STREAM_NEXT, 18)            \
  X(LoadModel, LOAD_MODEL, 19)              \
  X(UnloadModel, UNLOAD_MODEL, 20)          \
  X(IsModelReady, IS_MODEL_READY, 21)       \
  X(MetricFamilyNew, METRIC_FAMILY_NEW, 22) \
  X(MetricNew, METRIC_NEW, 23)              \
  X(MetricIncrement, METRIC_INCREMENT, 24)  \
  X(MetricSet, METRIC_SET, 25)              \
  X(MetricObserve, METRIC_OBSERVE, 26)      \
  X(MetricValue, METRIC_VALUE, 27)

// The fields of a request that the server hands to the process: a list, each at its place.
#define NEREID_PYTHON_REQUEST_FIELDS(X)                       \
  X(Handle, HANDLE, 0)                                        \
  X(RequestId, REQUEST_ID, 1)                                 \
  X(CorrelationId, CORRELATION_ID, 2)                         \
  X(Flags, FLAGS, 3)                                          \
  X(Timeout, TIMEOUT, 4)                                      \
  X(Parameters, PARAMETERS, 5)                                \
  X(Requested, REQUESTED, 6)                                  \
  X(Inputs, INPUTS, 7)                                        \
  X(Trace, TRACE, 8)                                          \
  X(TraceContext, TRACE_CONTEXT, 9)                           \
  X(Priority, PRIORITY, 10)                                   \
  /* Tensors that describe where the client wants outputs. */ \
  X(Places, PLACES, 11)

#define NEREID_PYTHON_ENUMERATOR(name, python_name, number) k##name = number,
enum class Command : uint32_t { NEREID_PYTHON_COMMANDS(NEREID_PYTHON_ENUMERATOR) };
enum class Call : uint32_t {
  NEREID_PYTHON_POSTS(NEREID_PYTHON_ENUMERATOR) NEREID_PYTHON_QUESTIONS(NEREID_PYTHON_ENUMERATOR)
};
enum class RequestField : uint32_t { NEREID_PYTHON_REQUEST_FIELDS(NEREID_PYTHON_ENUMERATOR) };
#undef NEREID_PYTHON_ENUMERATOR

#define NEREID_PYTHON_ONE(name, python_name, number) +1
inline constexpr uint32_t kRequestFields = NEREID_PYTHON_REQUEST_FIELDS(NEREID_PYTHON_ONE);
#undef NEREID_PYTHON_ONE

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_PYTHON_IPC_PROTOCOL_H_
