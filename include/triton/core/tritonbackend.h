// SPDX-License-Identifier: Apache-2.0
// The backend C API: how the server and the shared library that executes a model
// (libtriton_<backend>.so) talk to each other. The library implements the functions marked
// TRITONBACKEND_ISPEC; the server implements those marked TRITONBACKEND_DECLSPEC.
//
// Language: C99 and C++. Errors, ownership and the meaning of <log> are as in tritonserver.h.
//
// Threads: the server never runs two ModelInstanceExecute calls on one instance at the same time;
// different instances of a model run concurrently. Functions that only read an object are safe
// from any thread while that object lives. A request, a response and their inputs, outputs and
// states are thread-compatible: a backend may pass them between its own threads, but uses one of
// them from one thread at a time.

#ifndef NEREID_TRITON_CORE_TRITONBACKEND_H_
#define NEREID_TRITON_CORE_TRITONBACKEND_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Linkage of what the server library implements (_DECLSPEC) and of what a plug-in implements
/// (_ISPEC).
#if defined(__GNUC__) || defined(__clang__)
#define TRITONBACKEND_DECLSPEC __attribute__((__visibility__("default")))
#define TRITONBACKEND_ISPEC __attribute__((__visibility__("default")))
#else
#define TRITONBACKEND_DECLSPEC
#define TRITONBACKEND_ISPEC
#endif

/// Version of the backend API that this header describes. A backend compares it with
/// TRITONBACKEND_ApiVersion in TRITONBACKEND_Initialize and refuses a server with another major
/// number or a smaller minor one.
#define TRITONBACKEND_API_VERSION_MAJOR 1
#define TRITONBACKEND_API_VERSION_MINOR 19

/// The objects of this API. Their contents are private to the server, except that a
/// TRITONBACKEND_Batcher is whatever the custom batching library makes of it.
typedef struct TRITONBACKEND_MemoryManager TRITONBACKEND_MemoryManager;
typedef struct TRITONBACKEND_Input TRITONBACKEND_Input;
typedef struct TRITONBACKEND_Output TRITONBACKEND_Output;
typedef struct TRITONBACKEND_State TRITONBACKEND_State;
typedef struct TRITONBACKEND_Request TRITONBACKEND_Request;
typedef struct TRITONBACKEND_ResponseFactory TRITONBACKEND_ResponseFactory;
typedef struct TRITONBACKEND_Response TRITONBACKEND_Response;
typedef struct TRITONBACKEND_Backend TRITONBACKEND_Backend;
typedef struct TRITONBACKEND_Model TRITONBACKEND_Model;
typedef struct TRITONBACKEND_ModelInstance TRITONBACKEND_ModelInstance;
typedef struct TRITONBACKEND_ModelInstanceResponseStatistics
    TRITONBACKEND_ModelInstanceResponseStatistics;
typedef struct TRITONBACKEND_BackendAttribute TRITONBACKEND_BackendAttribute;
typedef struct TRITONBACKEND_Batcher TRITONBACKEND_Batcher;

/* ---------------------------------------------------------------------------------------------- */
/* API version                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/// Writes the version of the backend API that the server implements. A backend requires its own
/// major number and at least its own minor number. Thread-safe.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major,
                                                                    uint32_t* minor);

/* ---------------------------------------------------------------------------------------------- */
/* Memory                                                                                         */
/* ---------------------------------------------------------------------------------------------- */

// The server's pools of host, pinned and GPU memory. Thread-safe.

/// Allocates byte_size bytes from the server's pools. The caller frees them with
/// TRITONBACKEND_MemoryManagerFree. Errors: UNSUPPORTED if the server never has that memory type
/// and id, UNAVAILABLE if that much is not free at the moment.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(
    TRITONBACKEND_MemoryManager* manager, void** buffer, const TRITONSERVER_MemoryType memory_type,
    const int64_t memory_type_id, const uint64_t byte_size);

/// Frees memory. Type and id must be those it was allocated with.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(
    TRITONBACKEND_MemoryManager* manager, void* buffer, const TRITONSERVER_MemoryType memory_type,
    const int64_t memory_type_id);

/* ---------------------------------------------------------------------------------------------- */
/* Inputs of a request                                                                            */
/* ---------------------------------------------------------------------------------------------- */

// An input belongs to its request and is immutable; the pointers it returns are valid until the
// request is released.

/// Returns the description of an input: name, type, shape with batch dimension, size of its data in
/// bytes, and number of buffers that hold the data. Any of the output pointers may be NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputProperties(
    TRITONBACKEND_Input* input, const char** name, TRITONSERVER_DataType* datatype,
    const int64_t** shape, uint32_t* dims_count, uint64_t* byte_size, uint32_t* buffer_count);

/// As TRITONBACKEND_InputProperties, for the data of a host policy if the request has any,
/// otherwise for the common data. A NULL policy asks for the common data.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* dims_count,
    uint64_t* byte_size, uint32_t* buffer_count);

/// Returns one of the buffers of an input. memory_type and memory_type_id hold a preference on
/// entry and the actual place on return. Beyond the last buffer, *buffer is NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBuffer(
    TRITONBACKEND_Input* input, const uint32_t index, const void** buffer,
    uint64_t* buffer_byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// As TRITONBACKEND_InputBuffer, for the data of a host policy if the request has any.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const uint32_t index,
    const void** buffer, uint64_t* buffer_byte_size, TRITONSERVER_MemoryType* memory_type,
    int64_t* memory_type_id);

/// Returns one of the buffers of an input and its attributes, which belong to the input.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBufferAttributes(
    TRITONBACKEND_Input* input, const uint32_t index, const void** buffer,
    TRITONSERVER_BufferAttributes** buffer_attributes);

/* ---------------------------------------------------------------------------------------------- */
/* Outputs of a response                                                                          */
/* ---------------------------------------------------------------------------------------------- */

// An output belongs to its response; the pointers it returns are valid until the response is sent
// or deleted.

/// Allocates the buffer of an output, using the callbacks of the request's creator. memory_type and
/// memory_type_id hold a preference on entry and the actual place on return. The buffer belongs to
/// the output. Errors: ALREADY_EXISTS "allocated buffer for output '<n>' already exists"; whatever
/// the allocator returned.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(
    TRITONBACKEND_Output* output, void** buffer, const uint64_t buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Returns the attributes of the buffer of an output, once it has been allocated. They belong to
/// the output.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_OutputBufferAttributes(
    TRITONBACKEND_Output* output, TRITONSERVER_BufferAttributes** buffer_attributes);

/* ---------------------------------------------------------------------------------------------- */
/* Requests                                                                                       */
/* ---------------------------------------------------------------------------------------------- */

// A backend owns the requests passed to TRITONBACKEND_ModelInstanceExecute from its successful
// return until it releases each of them. Pointers obtained from a request are valid until then.

/// Returns the id of a request, "" if it has none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request,
                                                                   const char** id);

/// Tells whether a request was cancelled. In that case the backend answers with a CANCELLED error
/// and releases the request. May be called from any thread.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(
    TRITONBACKEND_Request* request, bool* is_cancelled);

/// Returns the number of the request's sequence. Errors: INVALID_ARG "<log>correlation ID in
/// request is not an unsigned int" if it is a string.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(
    TRITONBACKEND_Request* request, uint64_t* id);

/// Returns the time-out of a request in microseconds, 0 if it has none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout);

/// Returns the name of the request's sequence. Errors: INVALID_ARG "<log>correlation ID in
/// request is not a string" if it is a number.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(
    TRITONBACKEND_Request* request, const char** id);

/// Returns the TRITONSERVER_RequestFlag bits of a request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestFlags(
    TRITONBACKEND_Request* request, uint32_t* flags);

/// Returns the number of parameters.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// Returns a parameter by index. For a STRING, *vvalue is the const char* itself; otherwise it
/// points to an int64_t, bool or double. Errors: INVALID_ARG "out of bounds index <i>: request
/// has <n> parameters".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestParameter(
    TRITONBACKEND_Request* request, const uint32_t index, const char** key,
    TRITONSERVER_ParameterType* type, const void** vvalue);

/// Returns the number of inputs, those added by the server (controls and states of sequences)
/// included.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// Returns the name of an input by index. The order is not the same for every request. Errors:
/// INVALID_ARG "<log>out of bounds index <i>: request has <n> inputs".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputName(
    TRITONBACKEND_Request* request, const uint32_t index, const char** input_name);

/// Returns an input by name. Errors: INVALID_ARG "<log>unknown request input name <n>".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInput(
    TRITONBACKEND_Request* request, const char* name, TRITONBACKEND_Input** input);

/// Returns an input by index; see TRITONBACKEND_RequestInputName. Errors: INVALID_ARG "<log>out
/// of bounds index <i>: request has <n> inputs".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(
    TRITONBACKEND_Request* request, const uint32_t index, TRITONBACKEND_Input** input);

/// Returns the number of outputs to produce: those the request asks for, or all of the model.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// Returns the name of an output to produce by index. Errors: INVALID_ARG "<log>out of bounds
/// index <i>: request has <n> requested outputs".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(
    TRITONBACKEND_Request* request, const uint32_t index, const char** output_name);

/// Asks in which memory the buffer of an output would be, so that the result can be computed in
/// place. name may be NULL (any output) and byte_size may be NULL (size unknown). memory_type and
/// memory_type_id hold a preference on entry and the answer on return. Errors: UNAVAILABLE
/// "<log>Output properties are not available".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(
    TRITONBACKEND_Request* request, const char* name, size_t* byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Returns a request to the server; release_flags holds TRITONSERVER_RequestReleaseFlag bits. On
/// success the backend must not touch the request any more; on error it still owns it. May be
/// called from any thread, before or after the final response. Errors: INVALID_ARG "Request is
/// released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not configured to
/// handle such a flag."
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestRelease(
    TRITONBACKEND_Request* request, uint32_t release_flags);

/// Returns the trace of a request, NULL if it has none. Borrowed from the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestTrace(
    TRITONBACKEND_Request* request, TRITONSERVER_InferenceTrace** trace);

/* ---------------------------------------------------------------------------------------------- */
/* Response factories                                                                             */
/* ---------------------------------------------------------------------------------------------- */

// A factory makes responses for a request, even after that request was released. Needed only by
// models that may send any number of responses per request. Responses of one factory are made and
// sent from one thread at a time.

/// Tells whether the request was cancelled, also after it was released. May be called from any
/// thread.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryIsCancelled(
    TRITONBACKEND_ResponseFactory* factory, bool* is_cancelled);

/// Makes a factory for the responses of a request. The backend deletes it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryNew(
    TRITONBACKEND_ResponseFactory** factory, TRITONBACKEND_Request* request);

/// Frees a factory. If the last means of answering is deleted before the final flag was sent, the
/// server ends the request by sending the client an error.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryDelete(
    TRITONBACKEND_ResponseFactory* factory);

/// Sends flags without a response, for instance TRITONSERVER_RESPONSE_COMPLETE_FINAL after the
/// last one.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactorySendFlags(
    TRITONBACKEND_ResponseFactory* factory, const uint32_t send_flags);

/* ---------------------------------------------------------------------------------------------- */
/* Responses                                                                                      */
/* ---------------------------------------------------------------------------------------------- */

// A response is made for a request or from its factory, filled with outputs, and then sent or
// deleted. Exactly one final flag ends the responses of a request.

/// Makes a response to a request. All its outputs and their buffers are made before the next
/// response to the same request is. The backend sends or deletes it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseNew(
    TRITONBACKEND_Response** response, TRITONBACKEND_Request* request);

/// As TRITONBACKEND_ResponseNew, from a factory.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseNewFromFactory(
    TRITONBACKEND_Response** response, TRITONBACKEND_ResponseFactory* factory);

/// Frees a response that was not sent.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(
    TRITONBACKEND_Response* response);

/// Appends a string parameter to a response. Name and value are copied. Errors: INVALID_ARG
/// "response was nullptr".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(
    TRITONBACKEND_Response* response, const char* name, const char* value);

/// Appends an integer parameter to a response. The name is copied. Errors: INVALID_ARG
/// "response was nullptr".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetIntParameter(
    TRITONBACKEND_Response* response, const char* name, const int64_t value);

/// Appends a bool parameter to a response. The name is copied. Errors: INVALID_ARG "response
/// was nullptr".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetBoolParameter(
    TRITONBACKEND_Response* response, const char* name, const bool value);

/// Appends a double parameter to a response. The name is copied. Errors: INVALID_ARG "response
/// was nullptr".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetDoubleParameter(
    TRITONBACKEND_Response* response, const char* name, const double value);

/// Adds an output with its shape, batch dimension included. Where the model's configuration
/// reshapes the output, the shape the model produces is translated. The output belongs to the
/// response. Errors: INVALID_ARG "unexpected inference output '<n>' for model '<m>'".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(
    TRITONBACKEND_Response* response, TRITONBACKEND_Output** output, const char* name,
    const TRITONSERVER_DataType datatype, const int64_t* shape, const uint32_t dims_count);

/// Sends a response, which from now on belongs to the server, also if an error is returned.
/// send_flags holds TRITONSERVER_ResponseCompleteFlag bits. If error is not NULL the response
/// carries it and its outputs do not count; the error stays with the caller.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSend(
    TRITONBACKEND_Response* response, const uint32_t send_flags, TRITONSERVER_Error* error);

/// Returns type and shape of an output of a response by name. Errors: NOT_FOUND "Output name
/// <n>not found."
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutputByName(
    TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType* datatype,
    const int64_t** shape, uint64_t* dim_count);

/// Returns name, type and shape of an output of a response by index. Errors: INVALID_ARG "out
/// of bounds index <i>: response has <n> outputs".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutput(
    TRITONBACKEND_Response* response, const uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count);

/* ---------------------------------------------------------------------------------------------- */
/* Implicit state of sequences                                                                    */
/* ---------------------------------------------------------------------------------------------- */

// The state that the server keeps between the requests of a sequence, for models whose
// configuration declares it. Handles belong to the request they were made for.

/// Returns a handle to one of the output states of the request's sequence, and records its type
/// and shape. The request owns the handle. Errors: INVALID_ARG "unable to add state '<n>'.
/// State configuration is missing for model '<m>'." or "state '<n>' is not a valid state name."
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateNew(
    TRITONBACKEND_State** state, TRITONBACKEND_Request* request, const char* name,
    const TRITONSERVER_DataType datatype, const int64_t* shape, const uint32_t dims_count);

/// Makes the content of this state the input state of the next request of the sequence. Call it
/// before the request is released.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state);

/// Returns a buffer of buffer_byte_size bytes for the new value of the state. memory_type and
/// memory_type_id hold a preference on entry and the actual place on return. The state owns the
/// buffer, which is reused while size and memory stay the same.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateBuffer(
    TRITONBACKEND_State* state, void** buffer, const uint64_t buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Returns the attributes of the state's buffer. They belong to the state.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* state, TRITONSERVER_BufferAttributes** buffer_attributes);

/* ---------------------------------------------------------------------------------------------- */
/* The backend                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

// One object for each loaded backend library; it lives until TRITONBACKEND_Finalize returns.

/// Form in which files are handed to a backend.
typedef enum TRITONBACKEND_artifacttype_enum {
  /// A directory on a local file system; the location is its path.
  TRITONBACKEND_ARTIFACT_FILESYSTEM = 0
} TRITONBACKEND_ArtifactType;

/// When ModelInstanceExecute returns, and so how the server uses threads.
typedef enum TRITONBACKEND_execpolicy_enum {
  /// Each instance has a thread of its own, and Execute returns when the instance may take its
  /// next batch.
  TRITONBACKEND_EXECUTION_BLOCKING = 0,
  /// Execute returns when the device may take more work; instances on one GPU share a thread.
  TRITONBACKEND_EXECUTION_DEVICE_BLOCKING = 1
} TRITONBACKEND_ExecutionPolicy;

/// Returns the name of the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend,
                                                                     const char** name);

/// Returns the settings given to the backend: {"cmdline": {"<setting>": "<value>", ...}}. The
/// message belongs to the server.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendConfig(
    TRITONBACKEND_Backend* backend, TRITONSERVER_Message** backend_config);

/// Returns the execution policy, BLOCKING unless it was set.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy* policy);

/// Sets the execution policy; only inside TRITONBACKEND_Initialize. Models with a sequence
/// batcher run BLOCKING in any case.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy policy);

/// Returns the directory that holds the backend library.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ArtifactType* artifact_type,
    const char** location);

/// Returns the memory manager, which belongs to the server and lives as long as the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_MemoryManager** manager);

/// Returns the pointer stored with TRITONBACKEND_BackendSetState, NULL if there is none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendState(
    TRITONBACKEND_Backend* backend, void** state);

/// Stores an arbitrary pointer with the backend object. The server does not touch the memory behind
/// it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendSetState(
    TRITONBACKEND_Backend* backend, void* state);

/* ---------------------------------------------------------------------------------------------- */
/* Models                                                                                         */
/* ---------------------------------------------------------------------------------------------- */

// One object for each loaded version of a model; it lives until TRITONBACKEND_ModelFinalize
// returns.

/// Returns the name of a model.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model,
                                                                   const char** name);

/// Returns the version of a model.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model,
                                                                      uint64_t* version);

/// Returns the directory of a model, the one that holds the version directories, on the local
/// file system.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelRepository(
    TRITONBACKEND_Model* model, TRITONBACKEND_ArtifactType* artifact_type, const char** location);

/// Returns the configuration of a model in JSON. config_version must be 1. The caller deletes
/// the message. Errors: for another config_version.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelConfig(
    TRITONBACKEND_Model* model, const uint32_t config_version, TRITONSERVER_Message** model_config);

/// Tells whether the backend should fill in what is missing in the model's configuration, with
/// TRITONBACKEND_ModelSetConfig.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(
    TRITONBACKEND_Model* model, bool* auto_complete_config);

/// Replaces parts of the configuration: max_batch_size, inputs, outputs, the batcher if none
/// was chosen, and the transaction policy. Only inside TRITONBACKEND_ModelInitialize. The
/// server completes what it is given, so read it again with TRITONBACKEND_ModelConfig. The
/// message stays with the caller. config_version must be 1.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(
    TRITONBACKEND_Model* model, const uint32_t config_version, TRITONSERVER_Message* model_config);

/// Returns the server that runs the model, for requests in the same process. It belongs to the
/// application that created it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                                                     TRITONSERVER_Server** server);

/// Returns the backend of a model.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBackend(
    TRITONBACKEND_Model* model, TRITONBACKEND_Backend** backend);

/// Returns the pointer stored with TRITONBACKEND_ModelSetState, NULL if there is none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model,
                                                                    void** state);

/// Stores an arbitrary pointer with a model. The server does not touch the memory behind it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model,
                                                                       void* state);

/// Reports what memory a model holds, one entry for each memory type and id; replaces the last
/// report. Only byte size, memory type and id are read; the entries stay with the caller.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelReportMemoryUsage(
    TRITONBACKEND_Model* model, TRITONSERVER_BufferAttributes** usage, uint32_t usage_size);

/* ---------------------------------------------------------------------------------------------- */
/* Model instances and statistics                                                                 */
/* ---------------------------------------------------------------------------------------------- */

// One object for each instance of a model; it lives until TRITONBACKEND_ModelInstanceFinalize
// returns. Times are nanoseconds on the steady clock. The report functions may be called from
// any thread.

/// Returns the name of an instance, its group's name and number.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(
    TRITONBACKEND_ModelInstance* instance, const char** name);

/// Returns what an instance runs on: CPU, GPU or MODEL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_InstanceGroupKind* kind);

/// Returns the GPU of an instance; 0 for other kinds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(
    TRITONBACKEND_ModelInstance* instance, int32_t* device_id);

/// Returns the host policy of an instance: {"<policy>": {"<setting>": "<value>", ...}}. The
/// message belongs to the server.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_Message** host_policy);

/// Tells whether an instance is passive: made ready, but never given requests.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceIsPassive(
    TRITONBACKEND_ModelInstance* instance, bool* is_passive);

/// Returns the number of optimisation profiles of an instance.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count);

/// Returns an optimisation profile by index. Errors: INVALID_ARG "out of bounds index <i>:
/// instance is configured with <n> profiles".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileName(
    TRITONBACKEND_ModelInstance* instance, const uint32_t index, const char** profile_name);

/// Returns the number of secondary devices of an instance.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count);

/// Returns a secondary device by index: its kind, for instance "KIND_NVDLA", and id. Errors:
/// INVALID_ARG "out of bounds index <i>: instance is configured with <n> secondary devices".
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id);

/// Returns the model of an instance.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Model** model);

/// Returns the pointer stored with TRITONBACKEND_ModelInstanceSetState, NULL if there is none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(
    TRITONBACKEND_ModelInstance* instance, void** state);

/// Stores an arbitrary pointer with an instance. The server does not touch the memory behind it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(
    TRITONBACKEND_ModelInstance* instance, void* state);

/// As TRITONBACKEND_ModelReportMemoryUsage, for an instance.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage,
    uint32_t usage_size);

/// Reports the execution of one request, before it is released. The four times bound the whole
/// execution and the computation inside it. Without success the request counts as failed, and its
/// times are used only for its trace; a time of 0 means that the step was not reached.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, const bool success,
    const uint64_t exec_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns);

/// Makes an empty report on one response of a decoupled model. The caller deletes it; it can be
/// filled and used again.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsNew(
    TRITONBACKEND_ModelInstanceResponseStatistics** response_statistics);

/// Frees a report, not the objects it refers to.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsDelete(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics);

/// Sets the instance that made the response.
TRITONBACKEND_DECLSPEC
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ModelInstance* model_instance);

/// Sets the factory of the response. Each report advances a count in the factory, and
/// statistics are kept by that count; so report all responses of a request, in order.
TRITONBACKEND_DECLSPEC
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ResponseFactory* response_factory);

/// Sets when the work on the response began.
TRITONBACKEND_DECLSPEC
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_start);

/// Sets when the outputs began to be written; 0, the default, means that the response is empty.
TRITONBACKEND_DECLSPEC
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    uint64_t compute_output_start);

/// Sets when the work on the response ended.
TRITONBACKEND_DECLSPEC
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_end);

/// Sets the error the response carried, NULL if none. It stays with the caller.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetError(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, TRITONSERVER_Error* error);

/// Adds the report to the statistics of the model, as a success, an empty response, a failure
/// or a cancellation, according to what was set.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportResponseStatistics(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics);

/// Reports one execution of a batch. batch_size is the sum of the batch sizes of its requests.
/// The four times are as for TRITONBACKEND_ModelInstanceReportStatistics.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t batch_size, const uint64_t exec_start_ns,
    const uint64_t compute_start_ns, const uint64_t compute_end_ns, const uint64_t exec_end_ns);

/* ---------------------------------------------------------------------------------------------- */
/* Implemented by the backend library                                                             */
/* ---------------------------------------------------------------------------------------------- */

// The server looks these up by name after it has opened the library; only
// TRITONBACKEND_ModelInstanceExecute is required. Returned errors pass to the server. The order
// is: Initialize, GetBackendAttribute, and for each model ModelInitialize,
// ModelInstanceInitialize for each instance, any number of ModelInstanceExecute,
// ModelInstanceFinalize for each instance, ModelFinalize; Finalize comes last.
//
// The five ModelBatch functions are looked up in the custom batching library of a model, if it
// has one. It defines all of them or none.

/// Optional. Runs once after the library was loaded, on a thread that loads models. An error
/// fails the load of the model.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend);

/// Optional. Runs once before the library is closed, after the last model of the backend is
/// gone. An error is logged.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend);

/// Optional. Runs once for each model version before its instances are made, on a thread that
/// loads models, concurrently with other models. An error fails the load.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model);

/// Optional. Runs once for each model version when its object ends, after its instances are
/// gone. An error is logged.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model);

/// Optional. Runs once for each instance, on the instance's own thread; one after the other within
/// a model, unless TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading allowed otherwise.
/// An error fails the load.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance);

/// Optional. Runs once for each instance, when no execution runs on it any more. An error is
/// logged.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance);

/// Required. Runs a batch of requests on the thread of the instance. If NULL is returned the
/// requests belong to the backend, which answers and releases each of them, then or later, on
/// any thread. If an error is returned the backend must not have released any request: the
/// server answers each of them with that error. The array itself stays the server's and is
/// valid during the call only.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count);

/// Optional. Tells whether an instance can serve: NULL if so, an error if not. Runs on the
/// thread of whoever asks for the readiness of the model, also while the instance executes.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance);

/// Optional. Runs right after TRITONBACKEND_Initialize, for the backend to fill in its
/// attributes.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_BackendAttribute* backend_attributes);

/// Custom batching. Runs when a model is loaded; *batcher may be set to any pointer, which is
/// passed to ModelBatchInitialize and ModelBatcherFinalize.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(
    TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model);

/// Custom batching. Runs when the model is unloaded, to free what ModelBatcherInitialize made.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(
    TRITONBACKEND_Batcher* batcher);

/// Custom batching. Decides whether a request joins the batch that is forming; if not, the
/// batch is closed and the request starts the next one. userp is the pointer that belongs to
/// this batch. The request is lent for the call.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include);

/// Custom batching. Runs when a new batch begins; *userp may be set to any pointer that belongs
/// to this batch.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp);

/// Custom batching. Runs when a batch is closed, to free what ModelBatchInitialize made.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp);

/* ---------------------------------------------------------------------------------------------- */
/* Backend attributes                                                                             */
/* ---------------------------------------------------------------------------------------------- */

// Valid only inside TRITONBACKEND_GetBackendAttribute.

/// Adds an instance group to use for models whose configuration has none, the most preferred
/// one first. count 0 and device_ids NULL leave these to the server. device_ids is copied.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* backend_attributes, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t* device_ids, const uint64_t id_count);

/// Allows TRITONBACKEND_ModelInstanceInitialize to run concurrently for the instances of a
/// model. Default false.
TRITONBACKEND_DECLSPEC
TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* backend_attributes, bool enabled);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // NEREID_TRITON_CORE_TRITONBACKEND_H_
