// SPDX-License-Identifier: Apache-2.0
// The in-process C API of the inference server: create a server, load models, run requests, read
// metrics and statistics. The names, signatures and numbers are fixed by compatibility; programs
// and plug-ins compiled against them keep working without recompilation.
//
// Language: C99 and C++. Every object is opaque and handled through a pointer.
//
// Errors: a function that can fail returns TRITONSERVER_Error*. NULL is success. Anything else
// belongs to the caller, who frees it with TRITONSERVER_ErrorDelete. After an error the output
// arguments are unspecified unless the function says otherwise.
//
// Ownership: what a "New" function creates is freed by its "Delete" function. A `const char*` or
// other pointer returned by a query is borrowed from the queried object, stays valid while that
// object lives unchanged, and is never freed by the caller. Strings passed in are copied.
//
// Threads: TRITONSERVER_Server, the log functions, metric families and metrics are thread-safe.
// Every other object is thread-compatible: distinct objects may be used at the same time, one
// object only by one thread at a time unless its function says otherwise.
//
// In the error texts below, <log> stands for "[request id: <id>] ", where <id> is the request's id
// or "<id_unknown>" if it has none; other words in angle brackets stand for the value in question.

#ifndef NEREID_TRITON_CORE_TRITONSERVER_H_
#define NEREID_TRITON_CORE_TRITONSERVER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Linkage of what the server library implements.
#if defined(__GNUC__) || defined(__clang__)
#define TRITONSERVER_DECLSPEC __attribute__((__visibility__("default")))
#else
#define TRITONSERVER_DECLSPEC
#endif

/// Version of this API. The major number changes when existing users break, the minor one when
/// something is added. See TRITONSERVER_ApiVersion.
#define TRITONSERVER_API_VERSION_MAJOR 1
#define TRITONSERVER_API_VERSION_MINOR 34

/// The objects of this API. Their contents are private to the library.
typedef struct TRITONSERVER_BufferAttributes TRITONSERVER_BufferAttributes;
typedef struct TRITONSERVER_Error TRITONSERVER_Error;
typedef struct TRITONSERVER_InferenceRequest TRITONSERVER_InferenceRequest;
typedef struct TRITONSERVER_InferenceResponse TRITONSERVER_InferenceResponse;
typedef struct TRITONSERVER_InferenceTrace TRITONSERVER_InferenceTrace;
typedef struct TRITONSERVER_Message TRITONSERVER_Message;
typedef struct TRITONSERVER_Metrics TRITONSERVER_Metrics;
typedef struct TRITONSERVER_Parameter TRITONSERVER_Parameter;
typedef struct TRITONSERVER_ResponseAllocator TRITONSERVER_ResponseAllocator;
typedef struct TRITONSERVER_Server TRITONSERVER_Server;
typedef struct TRITONSERVER_ServerOptions TRITONSERVER_ServerOptions;
typedef struct TRITONSERVER_Metric TRITONSERVER_Metric;
typedef struct TRITONSERVER_MetricFamily TRITONSERVER_MetricFamily;
typedef struct TRITONSERVER_MetricArgs TRITONSERVER_MetricArgs;

/* ---------------------------------------------------------------------------------------------- */
/* API version                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/// Writes the version of the library. A program built against this header can run with a
/// library of the same major and the same or a greater minor number. Thread-safe.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major,
                                                                         uint32_t* minor);

/* ---------------------------------------------------------------------------------------------- */
/* Data types                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/// Element type of a tensor.
typedef enum TRITONSERVER_datatype_enum {
  TRITONSERVER_TYPE_INVALID = 0,
  TRITONSERVER_TYPE_BOOL = 1,
  TRITONSERVER_TYPE_UINT8 = 2,
  TRITONSERVER_TYPE_UINT16 = 3,
  TRITONSERVER_TYPE_UINT32 = 4,
  TRITONSERVER_TYPE_UINT64 = 5,
  TRITONSERVER_TYPE_INT8 = 6,
  TRITONSERVER_TYPE_INT16 = 7,
  TRITONSERVER_TYPE_INT32 = 8,
  TRITONSERVER_TYPE_INT64 = 9,
  TRITONSERVER_TYPE_FP16 = 10,
  TRITONSERVER_TYPE_FP32 = 11,
  TRITONSERVER_TYPE_FP64 = 12,
  /// Elements of any length, each stored as a little-endian uint32 length and that many bytes.
  TRITONSERVER_TYPE_BYTES = 13,
  TRITONSERVER_TYPE_BF16 = 14
} TRITONSERVER_DataType;

/// Name of a data type as the protocols spell it, for instance "FP32"; "<invalid>" for anything
/// else. Static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype);

/// The data type with that name, TRITONSERVER_TYPE_INVALID if there is none.
TRITONSERVER_DECLSPEC TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* dtype);

/// Size of one element in bytes; 0 for TRITONSERVER_TYPE_BYTES, whose elements differ in size,
/// and for TRITONSERVER_TYPE_INVALID.
TRITONSERVER_DECLSPEC uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype);

/* ---------------------------------------------------------------------------------------------- */
/* Memory types                                                                                   */
/* ---------------------------------------------------------------------------------------------- */

/// Where a buffer lives. The accompanying "memory type id" is the device number for GPU memory
/// and 0 otherwise.
typedef enum TRITONSERVER_memorytype_enum {
  TRITONSERVER_MEMORY_CPU = 0,
  /// Host memory that a GPU can copy from and to directly.
  TRITONSERVER_MEMORY_CPU_PINNED = 1,
  TRITONSERVER_MEMORY_GPU = 2
} TRITONSERVER_MemoryType;

/// "CPU", "CPU_PINNED" or "GPU"; "<invalid>" for anything else. Static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType memtype);

/* ---------------------------------------------------------------------------------------------- */
/* Parameters                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

// A named value, used as a label of a metric, a parameter of a model load or an entry of a name
// mapping. Immutable once made.

/// Type of the value a parameter holds.
typedef enum TRITONSERVER_parametertype_enum {
  TRITONSERVER_PARAMETER_STRING = 0,
  TRITONSERVER_PARAMETER_INT = 1,
  TRITONSERVER_PARAMETER_BOOL = 2,
  TRITONSERVER_PARAMETER_DOUBLE = 3,
  /// Borrowed bytes; see TRITONSERVER_ParameterBytesNew.
  TRITONSERVER_PARAMETER_BYTES = 4
} TRITONSERVER_ParameterType;

/// "STRING", "INT", "BOOL", "DOUBLE" or "BYTES"; "<invalid>" for anything else. Static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ParameterTypeString(
    TRITONSERVER_ParameterType paramtype);

/// Makes a parameter holding a copy of the value. value points to the characters of a
/// NUL-terminated string (STRING), or to an int64_t (INT), a bool (BOOL) or a double (DOUBLE).
/// Returns NULL for any other type. The caller deletes it.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(
    const char* name, const TRITONSERVER_ParameterType type, const void* value);

/// Makes a BYTES parameter. Only the pointer is kept: the bytes must outlive the parameter. The
/// caller deletes it.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Parameter* TRITONSERVER_ParameterBytesNew(
    const char* name, const void* byte_ptr, const uint64_t size);

/// Frees a parameter.
TRITONSERVER_DECLSPEC void TRITONSERVER_ParameterDelete(struct TRITONSERVER_Parameter* parameter);

/* ---------------------------------------------------------------------------------------------- */
/* Instance groups                                                                                */
/* ---------------------------------------------------------------------------------------------- */

/// What a model instance runs on.
typedef enum TRITONSERVER_instancegroupkind_enum {
  /// The server chooses when it reads the configuration; no running instance has this kind.
  TRITONSERVER_INSTANCEGROUPKIND_AUTO = 0,
  TRITONSERVER_INSTANCEGROUPKIND_CPU = 1,
  TRITONSERVER_INSTANCEGROUPKIND_GPU = 2,
  /// The backend places the instance itself.
  TRITONSERVER_INSTANCEGROUPKIND_MODEL = 3
} TRITONSERVER_InstanceGroupKind;

/// "AUTO", "CPU", "GPU" or "MODEL"; "<invalid>" for anything else. Static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InstanceGroupKindString(
    TRITONSERVER_InstanceGroupKind kind);

/* ---------------------------------------------------------------------------------------------- */
/* Logging                                                                                        */
/* ---------------------------------------------------------------------------------------------- */

// The log is one for the whole process; these functions are thread-safe.

/// Severity of a log record.
typedef enum TRITONSERVER_loglevel_enum {
  TRITONSERVER_LOG_INFO = 0,
  TRITONSERVER_LOG_WARN = 1,
  TRITONSERVER_LOG_ERROR = 2,
  TRITONSERVER_LOG_VERBOSE = 3
} TRITONSERVER_LogLevel;

/// Layout of a log line, where <L> is I, W or E.
typedef enum TRITONSERVER_logformat_enum {
  /// <L><MMDD> <hh:mm:ss.uuuuuu> <pid> <file>:<line>] <message>
  TRITONSERVER_LOG_DEFAULT = 0,
  /// <YYYY-MM-DDThh:mm:ssZ> <L> <pid> <file>:<line>] <message>
  TRITONSERVER_LOG_ISO8601 = 1
} TRITONSERVER_LogFormat;

/// True if records of that level are written. VERBOSE is on when the verbose level is at least
/// 1. Thread-safe.
TRITONSERVER_DECLSPEC bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level);

/// Writes a log record that names the given source file and line, if its level is on.
/// Thread-safe. Errors: INVALID_ARG "unknown logging level '<n>'".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_LogMessage(
    TRITONSERVER_LogLevel level, const char* filename, const int line, const char* msg);

/* ---------------------------------------------------------------------------------------------- */
/* Errors                                                                                         */
/* ---------------------------------------------------------------------------------------------- */

// An error is a code and a message, immutable once made. It belongs to whoever received it.

/// Class of an error.
typedef enum TRITONSERVER_errorcode_enum {
  TRITONSERVER_ERROR_UNKNOWN = 0,
  TRITONSERVER_ERROR_INTERNAL = 1,
  TRITONSERVER_ERROR_NOT_FOUND = 2,
  TRITONSERVER_ERROR_INVALID_ARG = 3,
  TRITONSERVER_ERROR_UNAVAILABLE = 4,
  TRITONSERVER_ERROR_UNSUPPORTED = 5,
  TRITONSERVER_ERROR_ALREADY_EXISTS = 6,
  TRITONSERVER_ERROR_CANCELLED = 7
} TRITONSERVER_Error_Code;

/// Makes an error with a copy of the message. The caller owns it, and commonly returns it.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code,
                                                                       const char* msg);

/// Frees an error. NULL is allowed.
TRITONSERVER_DECLSPEC void TRITONSERVER_ErrorDelete(struct TRITONSERVER_Error* error);

/// Code of an error, which must not be NULL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error_Code
TRITONSERVER_ErrorCode(struct TRITONSERVER_Error* error);

/// Text of the error's code: "Unknown", "Internal", "Not found", "Invalid argument",
/// "Unavailable", "Unsupported" or "Already exists"; "<invalid code>" otherwise, also for
/// CANCELLED. Borrowed from the error.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorCodeString(struct TRITONSERVER_Error* error);

/// Message of an error. Borrowed from the error.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorMessage(struct TRITONSERVER_Error* error);

/* ---------------------------------------------------------------------------------------------- */
/* Response allocators                                                                            */
/* ---------------------------------------------------------------------------------------------- */

// A response allocator is a set of callbacks with which the user of the API provides the memory
// of output tensors. The callbacks of one allocator run on any server or backend thread, for
// several requests at the same time, so they must be thread-safe. An allocator must outlive
// every request that uses it.
//
// For each response the server calls the start function, then for each output the query
// function (if the backend asks), the alloc function and the buffer attributes function; later,
// when the response is deleted, the release function for each buffer. `userp` is the pointer
// given to TRITONSERVER_InferenceRequestSetResponseCallback.

/// Provides the buffer of one output. memory_type and memory_type_id say what the server prefers;
/// actual_memory_type and actual_memory_type_id return what it got, which may differ. buffer_userp
/// returns an arbitrary pointer, which the server passes on with the output and to the release
/// function. For byte_size 0, buffer may be left NULL. An error fails the output and passes to the
/// server.
typedef struct TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorAllocFn_t)(
    struct TRITONSERVER_ResponseAllocator* allocator, const char* tensor_name, size_t byte_size,
    TRITONSERVER_MemoryType memory_type, int64_t memory_type_id, void* userp, void** buffer,
    void** buffer_userp, TRITONSERVER_MemoryType* actual_memory_type,
    int64_t* actual_memory_type_id);

/// Fills in further attributes of a buffer that was just allocated, for instance a CUDA IPC handle.
/// buffer_attributes belongs to the server, which afterwards writes the actual byte size, memory
/// type and id into it.
typedef struct TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorBufferAttributesFn_t)(
    struct TRITONSERVER_ResponseAllocator* allocator, const char* tensor_name,
    struct TRITONSERVER_BufferAttributes* buffer_attributes, void* userp, void* buffer_userp);

/// Returns the memory that the buffer of an output would have, before it is allocated. tensor_name
/// may be NULL (any output) and byte_size may be NULL (size unknown). memory_type and
/// memory_type_id hold the preference on entry and the answer on return.
typedef struct TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorQueryFn_t)(
    struct TRITONSERVER_ResponseAllocator* allocator, void* userp, const char* tensor_name,
    size_t* byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Releases a buffer. It runs once for each non-NULL buffer that the alloc function returned, when
/// the response that holds it is deleted. An error is logged.
typedef struct TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorReleaseFn_t)(
    struct TRITONSERVER_ResponseAllocator* allocator, void* buffer, void* buffer_userp,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id);

/// Announces that the allocations for a new response begin. An error is logged and otherwise
/// ignored.
typedef struct TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorStartFn_t)(
    struct TRITONSERVER_ResponseAllocator* allocator, void* userp);

/// Makes an allocator from its callbacks; start_fn may be NULL. The caller deletes it when no
/// request or response uses it any more.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorNew(
    struct TRITONSERVER_ResponseAllocator** allocator,
    TRITONSERVER_ResponseAllocatorAllocFn_t alloc_fn,
    TRITONSERVER_ResponseAllocatorReleaseFn_t release_fn,
    TRITONSERVER_ResponseAllocatorStartFn_t start_fn);

/// Adds the callback that runs after each successful allocation and completes the attributes of
/// the buffer. Set it before the allocator is first used.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
    struct TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorBufferAttributesFn_t buffer_attributes_fn);

/// Adds the callback that answers TRITONBACKEND_RequestOutputBufferProperties. Set it before
/// the allocator is first used.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetQueryFunction(
    struct TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorQueryFn_t query_fn);

/// Frees an allocator.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorDelete(
    struct TRITONSERVER_ResponseAllocator* allocator);

/* ---------------------------------------------------------------------------------------------- */
/* Messages                                                                                       */
/* ---------------------------------------------------------------------------------------------- */

// A message carries a JSON document, such as metadata or a model configuration. Immutable once
// made.

/// Makes a message from a JSON text of byte_size bytes, which is copied. The caller deletes it.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(
    struct TRITONSERVER_Message** message, const char* base, size_t byte_size);

/// Frees a message.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MessageDelete(
    struct TRITONSERVER_Message* message);

/// Returns the JSON text, byte_size bytes that need not end in NUL. Borrowed from the message.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(
    struct TRITONSERVER_Message* message, const char** base, size_t* byte_size);

/* ---------------------------------------------------------------------------------------------- */
/* Metrics snapshots                                                                              */
/* ---------------------------------------------------------------------------------------------- */

/// Text format of a metrics snapshot.
typedef enum tritonserver_metricformat_enum {
  TRITONSERVER_METRIC_PROMETHEUS = 0
} TRITONSERVER_MetricFormat;

/// Frees the handle. NULL is allowed.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricsDelete(
    struct TRITONSERVER_Metrics* metrics);

/// Writes the current values of all metrics as text, byte_size bytes, borrowed from the handle
/// until the next call or its deletion. Errors: INVALID_ARG "unknown metrics format '<n>'".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricsFormatted(
    struct TRITONSERVER_Metrics* metrics, TRITONSERVER_MetricFormat format, const char** base,
    size_t* byte_size);

/* ---------------------------------------------------------------------------------------------- */
/* Traces                                                                                         */
/* ---------------------------------------------------------------------------------------------- */

// A trace records what happens to one request. Pass it to TRITONSERVER_ServerInferAsync together
// with the request; while it is in flight the server owns it, and its callbacks may run
// concurrently on several threads. When the last user of the trace is done, the release function
// returns it.

/// What a trace records; a set of bits.
typedef enum tritonserver_tracelevel_enum {
  TRITONSERVER_TRACE_LEVEL_DISABLED = 0,
  /// Deprecated; taken as TIMESTAMPS.
  TRITONSERVER_TRACE_LEVEL_MIN = 1,
  /// Deprecated; taken as TIMESTAMPS.
  TRITONSERVER_TRACE_LEVEL_MAX = 2,
  /// Times of the steps of a request.
  TRITONSERVER_TRACE_LEVEL_TIMESTAMPS = 4,
  /// Contents of input and output tensors.
  TRITONSERVER_TRACE_LEVEL_TENSORS = 8
} TRITONSERVER_InferenceTraceLevel;

/// What happened at a point of a trace.
typedef enum tritonserver_traceactivity_enum {
  TRITONSERVER_TRACE_REQUEST_START = 0,
  TRITONSERVER_TRACE_QUEUE_START = 1,
  TRITONSERVER_TRACE_COMPUTE_START = 2,
  TRITONSERVER_TRACE_COMPUTE_INPUT_END = 3,
  TRITONSERVER_TRACE_COMPUTE_OUTPUT_START = 4,
  TRITONSERVER_TRACE_COMPUTE_END = 5,
  TRITONSERVER_TRACE_REQUEST_END = 6,
  TRITONSERVER_TRACE_TENSOR_QUEUE_INPUT = 7,
  TRITONSERVER_TRACE_TENSOR_BACKEND_INPUT = 8,
  TRITONSERVER_TRACE_TENSOR_BACKEND_OUTPUT = 9,
  /// Reported by TRITONSERVER_InferenceTraceReportActivity.
  TRITONSERVER_TRACE_CUSTOM_ACTIVITY = 10
} TRITONSERVER_InferenceTraceActivity;

/// Receives one activity. timestamp_ns counts nanoseconds on the steady clock. trace is valid
/// during the call. Runs on any server or backend thread.
typedef void (*TRITONSERVER_InferenceTraceActivityFn_t)(
    struct TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    uint64_t timestamp_ns, void* userp);

/// Receives one tensor. All pointers are valid during the call; base holds byte_size bytes in the
/// memory given by memory_type and memory_type_id. Runs on any server or backend thread.
typedef void (*TRITONSERVER_InferenceTraceTensorActivityFn_t)(
    struct TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    const char* name, TRITONSERVER_DataType datatype, const void* base, size_t byte_size,
    const int64_t* shape, uint64_t dim_count, TRITONSERVER_MemoryType memory_type,
    int64_t memory_type_id, void* userp);

/// Returns the trace when nothing refers to it any more: from now on the receiver owns it and
/// deletes it with TRITONSERVER_InferenceTraceDelete.
typedef void (*TRITONSERVER_InferenceTraceReleaseFn_t)(struct TRITONSERVER_InferenceTrace* trace,
                                                       void* userp);

/// "DISABLED", "MIN", "MAX", "TIMESTAMPS" or "TENSORS"; "<unknown>" for anything else, also for
/// combinations. Static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceLevelString(
    TRITONSERVER_InferenceTraceLevel level);

/// Name of the enumerator without "TRITONSERVER_TRACE_", for instance "REQUEST_START";
/// "<unknown>" for anything else. Static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceActivityString(
    TRITONSERVER_InferenceTraceActivity activity);

/// Makes a trace that records times. parent_id is the id of the trace this one belongs to, 0 if
/// none. Both callbacks get trace_userp. The caller owns the trace until it passes it to
/// TRITONSERVER_ServerInferAsync; the release function hands it back.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceNew(
    struct TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level,
    uint64_t parent_id, TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp);

/// As TRITONSERVER_InferenceTraceNew, with a second callback for tensors, used when level
/// contains TRITONSERVER_TRACE_LEVEL_TENSORS.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceTensorNew(
    struct TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level,
    uint64_t parent_id, TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp);

/// Reports a CUSTOM_ACTIVITY at a time of the caller's choosing, in nanoseconds on the steady
/// clock. The name is entered into the trace's context, a JSON object, under the decimal
/// timestamp. NULL for the trace does nothing. May be called from any thread while the trace is
/// in flight.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceReportActivity(
    struct TRITONSERVER_InferenceTrace* trace, uint64_t timestamp, const char* activity_name);

/// Frees a trace; normally called in its release function.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceDelete(
    struct TRITONSERVER_InferenceTrace* trace);

/// Returns the trace's id. Ids are unique in the process and count up from 1.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceId(
    struct TRITONSERVER_InferenceTrace* trace, uint64_t* id);

/// Returns the parent's id, 0 if there is none.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceParentId(
    struct TRITONSERVER_InferenceTrace* trace, uint64_t* parent_id);

/// Returns the name of the model, which is set when the request is issued. Borrowed from the
/// trace.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelName(
    struct TRITONSERVER_InferenceTrace* trace, const char** model_name);

/// Returns the version of the model that runs the request; set when it is issued.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelVersion(
    struct TRITONSERVER_InferenceTrace* trace, int64_t* model_version);

/// Returns the id of the request; set when it is issued. Borrowed from the trace.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceRequestId(
    struct TRITONSERVER_InferenceTrace* trace, const char** request_id);

/// Makes a trace with the same level, callbacks and user pointer, and this trace as its parent.
/// A NULL trace gives a NULL child and no error. The caller owns the child until it passes it
/// to TRITONSERVER_ServerInferAsync.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceSpawnChildTrace(
    struct TRITONSERVER_InferenceTrace* trace, struct TRITONSERVER_InferenceTrace** child_trace);

/// Stores a text that travels with the trace. By convention a JSON object, such as the
/// OpenTelemetry "traceparent" and "tracestate". Copied.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceSetContext(
    struct TRITONSERVER_InferenceTrace* trace, const char* trace_context);

/// Returns the stored text, "" if there is none. Borrowed from the trace until it is set again.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceTraceContext(
    struct TRITONSERVER_InferenceTrace* trace, const char** trace_context);

/* ---------------------------------------------------------------------------------------------- */
/* Inference requests                                                                             */
/* ---------------------------------------------------------------------------------------------- */

// Life of a request: make it, add inputs, their data and the requested outputs, set both
// callbacks, and issue it with TRITONSERVER_ServerInferAsync. From then on the server owns it,
// and until the release callback returns it, only these may be used on it:
// TRITONSERVER_InferenceRequestCancel, TRITONSERVER_InferenceRequestIsCancelled; functions that
// change or delete a request return INVALID_ARG. A returned request can be issued again, changed
// or not. A decoupled model may release a request long before its last response: until that has
// come, the request can be cancelled, by a program that has kept it. A request keeps its model
// object alive.

/// Flags of a request; a set of bits.
typedef enum tritonserver_requestflag_enum {
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1,
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
} TRITONSERVER_RequestFlag;

/// What a release of a request means; a set of bits.
typedef enum tritonserver_requestreleaseflag_enum {
  /// The server is done with the request; it belongs to its owner again.
  TRITONSERVER_REQUEST_RELEASE_ALL = 1,
  /// A backend of an iterative sequence model asks for another execution of the request.
  TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
} TRITONSERVER_RequestReleaseFlag;

/// Flags that come with a response; a set of bits.
typedef enum tritonserver_responsecompleteflag_enum {
  /// No further response follows for this request.
  TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
} TRITONSERVER_ResponseCompleteFlag;

/// Returns the request. With TRITONSERVER_REQUEST_RELEASE_ALL in flags the receiver owns it again
/// and may reuse or delete it. Runs on any server or backend thread, before or after the final
/// response; it must not block.
typedef void (*TRITONSERVER_InferenceRequestReleaseFn_t)(
    struct TRITONSERVER_InferenceRequest* request, const uint32_t flags, void* userp);

/// Receives a response, which the receiver owns and deletes with
/// TRITONSERVER_InferenceResponseDelete. response may be NULL when only flags arrive. After a
/// call with TRITONSERVER_RESPONSE_COMPLETE_FINAL no other follows for this request, and userp
/// and the allocator's user pointer are no longer used. Runs on any server or backend thread;
/// it must not block.
typedef void (*TRITONSERVER_InferenceResponseCompleteFn_t)(
    struct TRITONSERVER_InferenceResponse* response, const uint32_t flags, void* userp);

/// Makes a request for a model; version -1 means that the model's version policy decides. The
/// caller owns it except while it is in flight. Errors: those of looking up a model.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestNew(
    struct TRITONSERVER_InferenceRequest** inference_request, struct TRITONSERVER_Server* server,
    const char* model_name, const int64_t model_version);

/// Frees a request that the caller owns. One in flight is freed when its release callback has
/// returned, and must not be used any more but by that callback, which must not delete it again.
/// Errors: INVALID_ARG for one that was deleted in flight before.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestDelete(
    struct TRITONSERVER_InferenceRequest* inference_request);

/// Returns the id, "" if none was set. Borrowed from the request.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestId(
    struct TRITONSERVER_InferenceRequest* inference_request, const char** id);

/// Sets the id, which is copied. It appears in logs, traces and responses and need not be
/// unique.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetId(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* id);

/// Returns the TRITONSERVER_RequestFlag bits.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestFlags(
    struct TRITONSERVER_InferenceRequest* inference_request, uint32_t* flags);

/// Sets the TRITONSERVER_RequestFlag bits, replacing the earlier ones.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetFlags(
    struct TRITONSERVER_InferenceRequest* inference_request, uint32_t flags);

/// Returns the number that identifies the request's sequence, 0 if it belongs to none. Errors:
/// INVALID_ARG "given request's correlation id is not an unsigned int" if a string was set.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationId(
    struct TRITONSERVER_InferenceRequest* inference_request, uint64_t* correlation_id);

/// Returns the string that identifies the request's sequence. Borrowed from the request.
/// Errors: INVALID_ARG "given request's correlation id is not a string" if a number was set.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationIdString(
    struct TRITONSERVER_InferenceRequest* inference_request, const char** correlation_id);

/// Makes the request part of the sequence with that number; 0 means none. Replaces a string.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationId(
    struct TRITONSERVER_InferenceRequest* inference_request, uint64_t correlation_id);

/// Makes the request part of the sequence with that name, which is copied. Replaces a number.
/// Errors: UNSUPPORTED "string correlation ID cannot be longer than 128 characters".
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationIdString(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* correlation_id);

/// Asks the server to cancel the request. Work on the request stops as soon as convenient;
/// responses and the release still arrive. Thread-safe while the request is in flight. Errors:
/// INTERNAL "It is not possible to cancel an inference request before calling
/// TRITONSERVER_InferAsync."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestCancel(
    struct TRITONSERVER_InferenceRequest* inference_request);

/// Tells whether the request was cancelled. Thread-safe while the request is in flight. Errors:
/// INTERNAL "It is not possible to query cancellation status before calling
/// TRITONSERVER_InferAsync."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestIsCancelled(
    struct TRITONSERVER_InferenceRequest* inference_request, bool* is_cancelled);

/// Deprecated; use TRITONSERVER_InferenceRequestPriorityUInt64. Errors: INVALID_ARG "request
/// priority overflows uint32_t, use TRITONSERVER_InferenceRequestPriorityUInt64, priority=<n>".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriority(
    struct TRITONSERVER_InferenceRequest* inference_request, uint32_t* priority);

/// Returns the priority in effect.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriorityUInt64(
    struct TRITONSERVER_InferenceRequest* inference_request, uint64_t* priority);

/// Deprecated; use TRITONSERVER_InferenceRequestSetPriorityUInt64.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriority(
    struct TRITONSERVER_InferenceRequest* inference_request, uint32_t priority);

/// Sets the priority; 1 is the most urgent. 0, or more than the model's number of levels,
/// selects the model's default level.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriorityUInt64(
    struct TRITONSERVER_InferenceRequest* inference_request, uint64_t priority);

/// Returns the time-out in microseconds, 0 if there is none.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestTimeoutMicroseconds(
    struct TRITONSERVER_InferenceRequest* inference_request, uint64_t* timeout_us);

/// Sets how long the request may wait in the model's queue, in microseconds; 0 means no limit
/// of its own. It counts only where the model's queue policy allows an override.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(
    struct TRITONSERVER_InferenceRequest* inference_request, uint64_t timeout_us);

/// Adds an input with its full shape, batch dimension included. Name and shape are copied.
/// Errors: INVALID_ARG "<log>input '<n>' already exists in request".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddInput(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name,
    const TRITONSERVER_DataType datatype, const int64_t* shape, uint64_t dim_count);

/// Adds an input of which only bytes are known, for models with a single input; its name, type
/// and shape are taken from the model's configuration when the request is issued. It must be
/// the only input. Errors: INVALID_ARG "<log>raw input '<n>' can't be added to request with
/// other inputs".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRawInput(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes an input and its data. Errors: INVALID_ARG "<log>input '<n>' does not exist in
/// request".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveInput(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes all inputs and their data.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputs(
    struct TRITONSERVER_InferenceRequest* inference_request);

/// Appends a buffer to an input's data. The bytes are not copied: they must stay valid and
/// unchanged until the data is removed or the request deleted. An empty buffer is ignored.
/// Errors: INVALID_ARG "<log>input '<n>' does not exist in request".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputData(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id);

/// As TRITONSERVER_InferenceRequestAppendInputData, but the buffer is read only by instances
/// with that host policy. The data must be appended without a host policy too, for all other
/// instances.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
    const char* host_policy_name);

/// As TRITONSERVER_InferenceRequestAppendInputData, with size and memory given by attributes,
/// which are copied.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    struct TRITONSERVER_BufferAttributes* buffer_attributes);

/// Removes all data of an input, that of host policies included. Errors: INVALID_ARG
/// "<log>input '<n>' does not exist in request".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputData(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Asks for an output. If none is asked for, the model produces all of them. Errors:
/// INVALID_ARG "<log>output '<n>' already exists in request".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRequestedOutput(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Withdraws an output. It is no error if it was not asked for.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveRequestedOutput(
    struct TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Withdraws all outputs.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(
    struct TRITONSERVER_InferenceRequest* inference_request);

/// Sets the callback that hands the request back, and its user pointer. Required before the
/// request is issued.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetReleaseCallback(
    struct TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_InferenceRequestReleaseFn_t request_release_fn, void* request_release_userp);

/// Sets the allocator for output buffers, the callback for responses, and the user pointer of
/// each. Required before the request is issued.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetResponseCallback(
    struct TRITONSERVER_InferenceRequest* inference_request,
    struct TRITONSERVER_ResponseAllocator* response_allocator, void* response_allocator_userp,
    TRITONSERVER_InferenceResponseCompleteFn_t response_fn, void* response_userp);

/// Appends a string parameter for the backend. Key and value are copied.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetStringParameter(
    struct TRITONSERVER_InferenceRequest* request, const char* key, const char* value);

/// Appends an integer parameter for the backend. The key is copied.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetIntParameter(
    struct TRITONSERVER_InferenceRequest* request, const char* key, const int64_t value);

/// Appends a bool parameter for the backend. The key is copied.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetBoolParameter(
    struct TRITONSERVER_InferenceRequest* request, const char* key, const bool value);

/// Appends a double parameter for the backend. The key is copied.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetDoubleParameter(
    struct TRITONSERVER_InferenceRequest* request, const char* key, const double value);

/* ---------------------------------------------------------------------------------------------- */
/* Inference responses                                                                            */
/* ---------------------------------------------------------------------------------------------- */

// A response belongs to the receiver of the response callback. All pointers it hands out live
// until it is deleted. Immutable for its receiver.

/// Frees a response and runs the allocator's release function for each of its buffers. NULL is
/// allowed.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseDelete(
    struct TRITONSERVER_InferenceResponse* inference_response);

/// Returns NULL if the response is a success. Otherwise returns a new error, which the caller
/// deletes.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseError(
    struct TRITONSERVER_InferenceResponse* inference_response);

/// Returns name and version of the model that answered; "<unknown>" and -1 if there is none.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseModel(
    struct TRITONSERVER_InferenceResponse* inference_response, const char** model_name,
    int64_t* model_version);

/// Returns the id of the request that is answered.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseId(
    struct TRITONSERVER_InferenceResponse* inference_response, const char** request_id);

/// Returns the number of parameters.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameterCount(
    struct TRITONSERVER_InferenceResponse* inference_response, uint32_t* count);

/// Returns a parameter by index. For a STRING, *vvalue is the const char* itself; otherwise it
/// points to an int64_t, bool or double. Errors: INVALID_ARG "out of bounds index <i>: response
/// has <n> parameters".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameter(
    struct TRITONSERVER_InferenceResponse* inference_response, const uint32_t index,
    const char** name, TRITONSERVER_ParameterType* type, const void** vvalue);

/// Returns the number of outputs.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputCount(
    struct TRITONSERVER_InferenceResponse* inference_response, uint32_t* count);

/// Returns an output by index: its description, the place of its byte_size bytes, and in userp the
/// pointer that the allocator attached to the buffer. Errors: INVALID_ARG "out of bounds index <i>:
/// response has <n> outputs".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutput(
    struct TRITONSERVER_InferenceResponse* inference_response, const uint32_t index,
    const char** name, TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count,
    const void** base, size_t* byte_size, TRITONSERVER_MemoryType* memory_type,
    int64_t* memory_type_id, void** userp);

/// Returns the label of a class of an output, NULL if the model's configuration has none.
/// Errors: as TRITONSERVER_InferenceResponseOutput.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputClassificationLabel(
    struct TRITONSERVER_InferenceResponse* inference_response, const uint32_t index,
    const size_t class_index, const char** label);

/* ---------------------------------------------------------------------------------------------- */
/* Buffer attributes                                                                              */
/* ---------------------------------------------------------------------------------------------- */

// The attributes of a buffer besides its address: byte size, memory type and id, CUDA IPC handle.
// Thread-compatible.

/// Makes attributes with byte size 0, memory type CPU, id 0 and no CUDA IPC handle. The caller
/// deletes them.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(
    struct TRITONSERVER_BufferAttributes** buffer_attributes);

/// Frees attributes.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesDelete(
    struct TRITONSERVER_BufferAttributes* buffer_attributes);

/// Sets the memory type id.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryTypeId(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, int64_t memory_type_id);

/// Sets the memory type.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryType(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType memory_type);

/// Sets the CUDA IPC handle (cudaIpcMemHandle_t, 64 bytes), of which only the pointer is kept.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetCudaIpcHandle(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, void* cuda_ipc_handle);

/// Sets the byte size.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetByteSize(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, size_t byte_size);

/// Returns the memory type id.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryTypeId(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, int64_t* memory_type_id);

/// Returns the memory type.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryType(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType* memory_type);

/// Returns the pointer to the CUDA IPC handle, NULL if none was set.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesCudaIpcHandle(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, void** cuda_ipc_handle);

/// Returns the byte size.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_BufferAttributesByteSize(
    struct TRITONSERVER_BufferAttributes* buffer_attributes, size_t* byte_size);

/* ---------------------------------------------------------------------------------------------- */
/* Server options                                                                                 */
/* ---------------------------------------------------------------------------------------------- */

// The settings for a new server. Thread-compatible; the server copies them, so they may be deleted
// as soon as TRITONSERVER_ServerNew has returned. The log settings are the exception: they take
// effect at once for the whole process, and their `options` argument is ignored and may be NULL.

/// What decides which models are loaded.
typedef enum tritonserver_modelcontrolmode_enum {
  /// All models are loaded at start; later changes are ignored.
  TRITONSERVER_MODEL_CONTROL_NONE = 0,
  /// As NONE, and TRITONSERVER_ServerPollModelRepository applies changes.
  TRITONSERVER_MODEL_CONTROL_POLL = 1,
  /// Only the startup models and those asked for by the load functions are loaded.
  TRITONSERVER_MODEL_CONTROL_EXPLICIT = 2
} TRITONSERVER_ModelControlMode;

/// How executions of models are admitted.
typedef enum tritonserver_ratelimitmode_enum {
  /// An instance runs as soon as it is free.
  TRITONSERVER_RATE_LIMIT_OFF = 0,
  /// Instances compete for resources; priority weighs the number of executions.
  TRITONSERVER_RATE_LIMIT_EXEC_COUNT = 1
} TRITONSERVER_RateLimitMode;

/// Makes options with the library's defaults, which are named below. The caller deletes them.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsNew(
    struct TRITONSERVER_ServerOptions** options);

/// Frees options.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsDelete(
    struct TRITONSERVER_ServerOptions* options);

/// Sets the name the server reports. Default "triton".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetServerId(
    struct TRITONSERVER_ServerOptions* options, const char* server_id);

/// Adds the path of a model repository. Adding one twice counts once. At least one is needed.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelRepositoryPath(
    struct TRITONSERVER_ServerOptions* options, const char* model_repository_path);

/// Sets what decides which models are loaded. Default POLL. Errors: INVALID_ARG "unknown control
/// mode '<n>'".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelControlMode(
    struct TRITONSERVER_ServerOptions* options, TRITONSERVER_ModelControlMode mode);

/// Adds a model to load at start in mode EXPLICIT; "*", alone, means all.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStartupModel(
    struct TRITONSERVER_ServerOptions* options, const char* model_name);

/// If true, models must come with a complete configuration; if false, the server and the backends
/// fill in what they can determine. Default true.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictModelConfig(
    struct TRITONSERVER_ServerOptions* options, bool strict);

/// Names a variant of model configurations: configs/<name>.pbtxt in a model's directory is used
/// where it exists, config.pbtxt otherwise. Default none.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelConfigName(
    struct TRITONSERVER_ServerOptions* options, const char* model_config_name);

/// Sets how executions are admitted. Default OFF. Errors: INVALID_ARG "unknown rate limit mode
/// '<n>'".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRateLimiterMode(
    struct TRITONSERVER_ServerOptions* options, TRITONSERVER_RateLimitMode mode);

/// Sets how many units of a resource the rate limiter has on a device; -1 means on every
/// device. Of several counts for the same resource and device the smallest is kept.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsAddRateLimiterResource(
    struct TRITONSERVER_ServerOptions* options, const char* resource_name,
    const size_t resource_count, const int device);

/// Sets the size of the pinned host memory pool in bytes. Default 268435456.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(
    struct TRITONSERVER_ServerOptions* options, uint64_t size);

/// Sets the size of a device's memory pool in bytes. Default 67108864.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(
    struct TRITONSERVER_ServerOptions* options, int gpu_device, uint64_t size);

/// Sets the size of the address range reserved on a device for sequence state that grows.
/// Default 1073741824.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(
    struct TRITONSERVER_ServerOptions* options, int gpu_device, size_t cuda_virtual_address_size);

/// Deprecated; use TRITONSERVER_ServerOptionsSetCacheConfig. A size other than 0 selects the
/// cache "local" with the configuration {"size": <n>}.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetResponseCacheByteSize(
    struct TRITONSERVER_ServerOptions* options, uint64_t size);

/// Turns the response cache on, implemented by the library of that name and configured by a
/// JSON text. Naming two different caches makes the server fail to start.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheConfig(
    struct TRITONSERVER_ServerOptions* options, const char* cache_name, const char* config_json);

/// Sets the directory that holds one directory for each cache library. Default: that of the
/// installation that the library belongs to, or "/opt/tritonserver/caches" if it has none.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheDirectory(
    struct TRITONSERVER_ServerOptions* options, const char* cache_dir);

/// Sets the least CUDA compute capability a GPU must have to be used.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(
    struct TRITONSERVER_ServerOptions* options, double cc);

/// If true, a failed start makes TRITONSERVER_ServerNew fail; if false, the failure is logged and
/// the server exists but is not ready. Default true.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitOnError(
    struct TRITONSERVER_ServerOptions* options, bool exit);

/// If true, the server counts as ready only if all its models are. Default true.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictReadiness(
    struct TRITONSERVER_ServerOptions* options, bool strict);

/// Sets how many seconds TRITONSERVER_ServerStop waits at most. Default 30.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitTimeout(
    struct TRITONSERVER_ServerOptions* options, unsigned int timeout);

/// Sets the number of threads that copy tensors. Default 0: the calling thread copies.
TRITONSERVER_DECLSPEC
struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBufferManagerThreadCount(
    struct TRITONSERVER_ServerOptions* options, unsigned int thread_count);

/// Sets the number of threads that load models. Default 4.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadThreadCount(
    struct TRITONSERVER_ServerOptions* options, unsigned int thread_count);

/// Sets how often a failed load of a model version is tried again. Default 0.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadRetryCount(
    struct TRITONSERVER_ServerOptions* options, unsigned int retry_count);

/// If true, models of the same name in different repositories can be loaded side by side, told
/// apart by the path of the repository. Default false.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelNamespacing(
    struct TRITONSERVER_ServerOptions* options, bool enable_namespace);

/// If true, the server tries to enable access between GPUs at start.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetEnablePeerAccess(
    struct TRITONSERVER_ServerOptions* options, bool enable_peer_access);

/// Writes the log to a file; "" or NULL means the console. Errors: INTERNAL if the file cannot
/// be opened.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFile(
    struct TRITONSERVER_ServerOptions* options, const char* file);

/// Switches INFO records on or off.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogInfo(
    struct TRITONSERVER_ServerOptions* options, bool log);

/// Switches WARNING records on or off.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogWarn(
    struct TRITONSERVER_ServerOptions* options, bool log);

/// Switches ERROR records on or off.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogError(
    struct TRITONSERVER_ServerOptions* options, bool log);

/// Sets the layout of log lines.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFormat(
    struct TRITONSERVER_ServerOptions* options, const TRITONSERVER_LogFormat format);

/// Sets the verbose level; 0 switches verbose records off.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogVerbose(
    struct TRITONSERVER_ServerOptions* options, int level);

/// Switches metrics on or off. Default true if the library has metrics. Errors: UNSUPPORTED
/// "metrics not supported" in a library without them.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetrics(
    struct TRITONSERVER_ServerOptions* options, bool metrics);

/// Switches GPU metrics on or off; they need metrics. Errors: as
/// TRITONSERVER_ServerOptionsSetMetrics.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetGpuMetrics(
    struct TRITONSERVER_ServerOptions* options, bool gpu_metrics);

/// Switches CPU metrics on or off; they need metrics. Errors: as
/// TRITONSERVER_ServerOptionsSetMetrics.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCpuMetrics(
    struct TRITONSERVER_ServerOptions* options, bool cpu_metrics);

/// Sets how often the GPU, CPU and pinned memory gauges are read, in milliseconds. Default
/// 2000.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsInterval(
    struct TRITONSERVER_ServerOptions* options, uint64_t metrics_interval_ms);

/// Sets the directory that holds one directory for each backend. Default: that of the installation
/// that the library belongs to, or "/opt/tritonserver/backends" if it has none.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendDirectory(
    struct TRITONSERVER_ServerOptions* options, const char* backend_dir);

/// Sets the directory that holds one directory for each repository agent. Default: that of the
/// installation that the library belongs to, or "/opt/tritonserver/repoagents" if it has none.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRepoAgentDirectory(
    struct TRITONSERVER_ServerOptions* options, const char* repoagent_dir);

/// Sets up to which fraction of a GPU's memory may be in use when a model is loaded on it.
/// Errors: INVALID_ARG "expects device ID >= 0, got <n>", "expects limit fraction to be in
/// range [0.0, 1.0], got <f>" or "given device kind is not supported, got: <KIND>".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
    struct TRITONSERVER_ServerOptions* options, const TRITONSERVER_InstanceGroupKind kind,
    const int device_id, const double fraction);

/// Adds a setting for a backend; the backend name "" addresses all backends.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendConfig(
    struct TRITONSERVER_ServerOptions* options, const char* backend_name, const char* setting,
    const char* value);

/// Adds a setting to a host policy: "numa-node" or "cpu-cores". Errors: UNSUPPORTED
/// "Unsupported host policy setting '<s>' is specified, supported settings are 'numa-node',
/// 'cpu-cores'".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetHostPolicy(
    struct TRITONSERVER_ServerOptions* options, const char* policy_name, const char* setting,
    const char* value);

/// Adds a setting for metrics; the name "" addresses all of them.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsConfig(
    struct TRITONSERVER_ServerOptions* options, const char* name, const char* setting,
    const char* value);

/* ---------------------------------------------------------------------------------------------- */
/* The server                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

// A server is thread-safe. Where a function takes a model and a version, version -1 means the
// newest one that is available. Looking up a model fails with NOT_FOUND if it is unknown, and
// with UNAVAILABLE if it is known but has no ready version.

/// How a model treats the first dimension of its tensors; a set of bits.
typedef enum tritonserver_batchflag_enum {
  /// The model does not batch.
  TRITONSERVER_BATCH_UNKNOWN = 1,
  /// The first dimension is the batch.
  TRITONSERVER_BATCH_FIRST_DIM = 2
} TRITONSERVER_ModelBatchFlag;

/// Selects what the model index lists; a set of bits.
typedef enum tritonserver_modelindexflag_enum {
  /// Only models that are ready for inference.
  TRITONSERVER_INDEX_FLAG_READY = 1
} TRITONSERVER_ModelIndexFlag;

/// How many responses a request to a model produces; a set of bits.
typedef enum tritonserver_txn_property_flag_enum {
  /// Exactly one response.
  TRITONSERVER_TXN_ONE_TO_ONE = 1,
  /// Zero, one or more responses.
  TRITONSERVER_TXN_DECOUPLED = 2
} TRITONSERVER_ModelTxnPropertyFlag;

/// Makes a server and starts it. Blocks until the models to load at start are loaded or have
/// failed. The caller deletes it.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerNew(
    struct TRITONSERVER_Server** server, struct TRITONSERVER_ServerOptions* options);

/// Stops the server if it runs, and frees it. If stopping fails, the error is returned and the
/// server is not freed. NULL is allowed.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerDelete(
    struct TRITONSERVER_Server* server);

/// Refuses new work, waits for requests in flight and unloads all models, for at most the exit
/// time-out. Errors: INTERNAL "Exit timeout expired. Exiting immediately."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerStop(
    struct TRITONSERVER_Server* server);

/// Replaces the exit time-out, in seconds.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerSetExitTimeout(
    struct TRITONSERVER_Server* server, unsigned int timeout);

/// Adds a model repository to a running server; mode EXPLICIT only. name_mapping holds STRING
/// parameters, each naming a directory in the repository (name) and the model it is known as
/// (value). They are copied.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerRegisterModelRepository(
    struct TRITONSERVER_Server* server, const char* repository_path,
    const struct TRITONSERVER_Parameter** name_mapping, const uint32_t mapping_count);

/// Removes a model repository and its name mappings; mode EXPLICIT only. Models loaded from it
/// stay loaded.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerUnregisterModelRepository(
    struct TRITONSERVER_Server* server, const char* repository_path);

/// Looks for changes in the repositories and applies them; mode POLL only. Does nothing while
/// the server is not ready. Errors: UNAVAILABLE "polling is disabled" in any other mode.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerPollModelRepository(
    struct TRITONSERVER_Server* server);

/// Tells whether the server has started. Errors: UNAVAILABLE "Server exiting" while it stops,
/// with *live false.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerIsLive(
    struct TRITONSERVER_Server* server, bool* live);

/// Tells whether the server takes requests; with strict readiness, whether all models do.
/// Errors: UNAVAILABLE "Server exiting" while it stops.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerIsReady(
    struct TRITONSERVER_Server* server, bool* ready);

/// Tells whether a model takes requests. Asks the backend too, if that offers
/// TRITONBACKEND_ModelInstanceReady. Errors: those of looking up a model.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerModelIsReady(
    struct TRITONSERVER_Server* server, const char* model_name, const int64_t model_version,
    bool* ready);

/// Returns TRITONSERVER_BATCH_FIRST_DIM if the model's max_batch_size is greater than 0,
/// TRITONSERVER_BATCH_UNKNOWN otherwise. *voidp is set to NULL. Errors: those of looking up a
/// model.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerModelBatchProperties(
    struct TRITONSERVER_Server* server, const char* model_name, const int64_t model_version,
    uint32_t* flags, void** voidp);

/// Returns TRITONSERVER_TXN_DECOUPLED if the model's transaction policy says so,
/// TRITONSERVER_TXN_ONE_TO_ONE otherwise. *voidp is set to NULL. Errors: those of looking up a
/// model.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerModelTransactionProperties(
    struct TRITONSERVER_Server* server, const char* model_name, const int64_t model_version,
    uint32_t* txn_flags, void** voidp);

/// Returns name, version and extensions of the server: {"name", "version", "extensions"}. The
/// caller deletes the message.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerMetadata(
    struct TRITONSERVER_Server* server, struct TRITONSERVER_Message** server_metadata);

/// Returns the metadata of a model: name, versions, platform, inputs and outputs, as in the
/// HTTP protocol. The caller deletes the message. Errors: those of looking up a model.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerModelMetadata(
    struct TRITONSERVER_Server* server, const char* model_name, const int64_t model_version,
    struct TRITONSERVER_Message** model_metadata);

/// Returns {"model_stats": [...]} for one model, or for all that are ready if model_name is "".
/// The caller deletes the message. Errors: those of looking up a model.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerModelStatistics(
    struct TRITONSERVER_Server* server, const char* model_name, const int64_t model_version,
    struct TRITONSERVER_Message** model_stats);

/// Returns the complete configuration of a model. config_version must be 1. The caller deletes
/// the message. Errors: those of looking up a model, and for another config_version.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerModelConfig(
    struct TRITONSERVER_Server* server, const char* model_name, const int64_t model_version,
    const uint32_t config_version, struct TRITONSERVER_Message** model_config);

/// Returns an array with the models of the repositories; TRITONSERVER_INDEX_FLAG_READY leaves
/// out those that are not ready. The caller deletes the message.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerModelIndex(
    struct TRITONSERVER_Server* server, uint32_t flags, struct TRITONSERVER_Message** model_index);

/// Loads or reloads a model; mode EXPLICIT only. Blocks until that is done. If it fails, versions
/// that were loaded before stay.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerLoadModel(
    struct TRITONSERVER_Server* server, const char* model_name);

/// As TRITONSERVER_ServerLoadModel, with the parameter "config" (STRING), a configuration in
/// JSON that replaces the one in the repository, and "file:<path>" (BYTES), files that replace
/// the model's directory and need "config" beside them. Parameters are read during the call
/// only. Errors: INVALID_ARG "load parameters are not provided while parameter count is
/// non-zero".
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerLoadModelWithParameters(
    struct TRITONSERVER_Server* server, const char* model_name,
    const struct TRITONSERVER_Parameter** parameters, const uint64_t parameter_count);

/// Begins to unload a model; mode EXPLICIT only. Requests in flight finish; the call does not
/// wait for them.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerUnloadModel(
    struct TRITONSERVER_Server* server, const char* model_name);

/// As TRITONSERVER_ServerUnloadModel, and unloads the models of an ensemble that were loaded
/// only for it.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerUnloadModelAndDependents(
    struct TRITONSERVER_Server* server, const char* model_name);

/// Returns a handle to the process's metrics. The caller deletes it.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerMetrics(
    struct TRITONSERVER_Server* server, struct TRITONSERVER_Metrics** metrics);

/// Issues a request. On success the server owns it until the release callback returns it; on error
/// the caller keeps it and neither callback runs. trace may be NULL; otherwise the server takes it
/// over in either case, and its release function returns it. Errors: UNAVAILABLE "Server not
/// ready", and those of a request that does not fit the model.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(
    struct TRITONSERVER_Server* server, struct TRITONSERVER_InferenceRequest* inference_request,
    struct TRITONSERVER_InferenceTrace* trace);

/* ---------------------------------------------------------------------------------------------- */
/* Custom metrics                                                                                 */
/* ---------------------------------------------------------------------------------------------- */

// Custom metrics appear next to the server's own in TRITONSERVER_ServerMetrics. Families and
// metrics are thread-safe. A family must outlive its metrics. In a library built without
// metrics all these functions return UNSUPPORTED "metrics not supported".

/// Kind of a custom metric.
typedef enum TRITONSERVER_metrickind_enum {
  TRITONSERVER_METRIC_KIND_COUNTER = 0,
  TRITONSERVER_METRIC_KIND_GAUGE = 1,
  TRITONSERVER_METRIC_KIND_HISTOGRAM = 2
} TRITONSERVER_MetricKind;

/// Makes a metric family, or joins the one with the same name, kind and description. The caller
/// deletes it. Errors: INVALID_ARG "Unsupported kind passed to MetricFamily constructor."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricFamilyNew(
    struct TRITONSERVER_MetricFamily** family, const TRITONSERVER_MetricKind kind, const char* name,
    const char* description);

/// Frees a family. Errors: INTERNAL "Must call MetricDelete on all dependent metrics before
/// calling MetricFamilyDelete."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricFamilyDelete(
    struct TRITONSERVER_MetricFamily* family);

/// Returns the kind of a family.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_GetMetricFamilyKind(
    struct TRITONSERVER_MetricFamily* family, TRITONSERVER_MetricKind* kind);

/// Makes empty arguments for TRITONSERVER_MetricNewWithArgs. The caller deletes them.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricArgsNew(
    struct TRITONSERVER_MetricArgs** args);

/// Turns the arguments into those of a histogram. buckets holds the upper bounds of the buckets in
/// increasing order; it is copied.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricArgsSetHistogram(
    struct TRITONSERVER_MetricArgs* args, const double* buckets, const uint64_t buckets_count);

/// Frees arguments; allowed as soon as the metric is made.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricArgsDelete(
    struct TRITONSERVER_MetricArgs* args);

/// Makes a counter or gauge of a family with labels, which are STRING parameters and copied.
/// Metrics of a family with equal labels share one value. The caller deletes it, before the
/// family. Errors: INVALID_ARG "Parameter [<n>] must have a type of
/// TRITONSERVER_PARAMETER_STRING to be added as a label.", and for a histogram, which needs
/// arguments, "Bucket boundaries not found in Metric args."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricNew(
    struct TRITONSERVER_Metric** metric, struct TRITONSERVER_MetricFamily* family,
    const struct TRITONSERVER_Parameter** labels, const uint64_t label_count);

/// As TRITONSERVER_MetricNew, with arguments, which a histogram needs and other kinds do not
/// take. Errors: INVALID_ARG "Unexpected args found in counter Metric constructor.",
/// "Unexpected args found in gauge Metric constructor." or "Metric args not set to histogram
/// kind."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricNewWithArgs(
    struct TRITONSERVER_Metric** metric, struct TRITONSERVER_MetricFamily* family,
    const struct TRITONSERVER_Parameter** labels, const uint64_t label_count,
    const struct TRITONSERVER_MetricArgs* args);

/// Frees a metric. Errors: INTERNAL "MetricFamily reference was invalidated before Metric was
/// deleted. Must call MetricDelete on all dependent metrics before calling MetricFamilyDelete."
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricDelete(
    struct TRITONSERVER_Metric* metric);

/// Returns the value of a counter or gauge. Errors: UNSUPPORTED for a histogram.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricValue(
    struct TRITONSERVER_Metric* metric, double* value);

/// Adds to a counter, or to a gauge, which also takes negative values. Errors: INVALID_ARG for
/// a counter and a negative value; UNSUPPORTED for a histogram.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricIncrement(
    struct TRITONSERVER_Metric* metric, double value);

/// Sets a gauge. Errors: UNSUPPORTED for other kinds.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricSet(
    struct TRITONSERVER_Metric* metric, double value);

/// Adds an observation to a histogram. Errors: UNSUPPORTED for other kinds.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_MetricObserve(
    struct TRITONSERVER_Metric* metric, double value);

/// Returns the kind of a metric.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* TRITONSERVER_GetMetricKind(
    struct TRITONSERVER_Metric* metric, TRITONSERVER_MetricKind* kind);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // NEREID_TRITON_CORE_TRITONSERVER_H_
