// SPDX-License-Identifier: Apache-2.0
// The signatures of the functions in tritonserver.h, as server API version 1.34 has
// them. Written from the published interface, not from our header: a change here breaks existing
// programs. Nothing is executed; the file compiles or it does not.
#include "triton/core/tritonserver.h"

#include "nereid/server.h"
#include "tests/conformance/capi/same_type.h"

// Callbacks.
NEREID_SAME_TYPE(TRITONSERVER_ResponseAllocatorAllocFn_t,
                 TRITONSERVER_Error* (*)(TRITONSERVER_ResponseAllocator*, const char*, size_t,
                                         TRITONSERVER_MemoryType, int64_t, void*, void**, void**,
                                         TRITONSERVER_MemoryType*, int64_t*));
NEREID_SAME_TYPE(TRITONSERVER_ResponseAllocatorBufferAttributesFn_t,
                 TRITONSERVER_Error* (*)(TRITONSERVER_ResponseAllocator*, const char*,
                                         TRITONSERVER_BufferAttributes*, void*, void*));
NEREID_SAME_TYPE(TRITONSERVER_ResponseAllocatorQueryFn_t,
                 TRITONSERVER_Error* (*)(TRITONSERVER_ResponseAllocator*, void*, const char*,
                                         size_t*, TRITONSERVER_MemoryType*, int64_t*));
NEREID_SAME_TYPE(TRITONSERVER_ResponseAllocatorReleaseFn_t,
                 TRITONSERVER_Error* (*)(TRITONSERVER_ResponseAllocator*, void*, void*, size_t,
                                         TRITONSERVER_MemoryType, int64_t));
NEREID_SAME_TYPE(TRITONSERVER_ResponseAllocatorStartFn_t,
                 TRITONSERVER_Error* (*)(TRITONSERVER_ResponseAllocator*, void*));
NEREID_SAME_TYPE(TRITONSERVER_InferenceTraceActivityFn_t,
                 void (*)(TRITONSERVER_InferenceTrace*, TRITONSERVER_InferenceTraceActivity,
                          uint64_t, void*));
NEREID_SAME_TYPE(TRITONSERVER_InferenceTraceTensorActivityFn_t,
                 void (*)(TRITONSERVER_InferenceTrace*, TRITONSERVER_InferenceTraceActivity,
                          const char*, TRITONSERVER_DataType, const void*, size_t, const int64_t*,
                          uint64_t, TRITONSERVER_MemoryType, int64_t, void*));
NEREID_SAME_TYPE(TRITONSERVER_InferenceTraceReleaseFn_t,
                 void (*)(TRITONSERVER_InferenceTrace*, void*));
NEREID_SAME_TYPE(TRITONSERVER_InferenceRequestReleaseFn_t,
                 void (*)(TRITONSERVER_InferenceRequest*, uint32_t, void*));
NEREID_SAME_TYPE(TRITONSERVER_InferenceResponseCompleteFn_t,
                 void (*)(TRITONSERVER_InferenceResponse*, uint32_t, void*));

// Functions.
NEREID_SAME(TRITONSERVER_ApiVersion, TRITONSERVER_Error*(uint32_t*, uint32_t*));
NEREID_SAME(TRITONSERVER_DataTypeString, const char*(TRITONSERVER_DataType));
NEREID_SAME(TRITONSERVER_StringToDataType, TRITONSERVER_DataType(const char*));
NEREID_SAME(TRITONSERVER_DataTypeByteSize, uint32_t(TRITONSERVER_DataType));
NEREID_SAME(TRITONSERVER_MemoryTypeString, const char*(TRITONSERVER_MemoryType));
NEREID_SAME(TRITONSERVER_ParameterTypeString, const char*(TRITONSERVER_ParameterType));
NEREID_SAME(TRITONSERVER_ParameterNew,
            TRITONSERVER_Parameter*(const char*, TRITONSERVER_ParameterType, const void*));
NEREID_SAME(TRITONSERVER_ParameterBytesNew,
            TRITONSERVER_Parameter*(const char*, const void*, uint64_t));
NEREID_SAME(TRITONSERVER_ParameterDelete, void(TRITONSERVER_Parameter*));
NEREID_SAME(TRITONSERVER_InstanceGroupKindString, const char*(TRITONSERVER_InstanceGroupKind));
NEREID_SAME(TRITONSERVER_LogIsEnabled, bool(TRITONSERVER_LogLevel));
NEREID_SAME(TRITONSERVER_LogMessage,
            TRITONSERVER_Error*(TRITONSERVER_LogLevel, const char*, int, const char*));
NEREID_SAME(TRITONSERVER_ErrorNew, TRITONSERVER_Error*(TRITONSERVER_Error_Code, const char*));
NEREID_SAME(TRITONSERVER_ErrorDelete, void(TRITONSERVER_Error*));
NEREID_SAME(TRITONSERVER_ErrorCode, TRITONSERVER_Error_Code(TRITONSERVER_Error*));
NEREID_SAME(TRITONSERVER_ErrorCodeString, const char*(TRITONSERVER_Error*));
NEREID_SAME(TRITONSERVER_ErrorMessage, const char*(TRITONSERVER_Error*));
NEREID_SAME(TRITONSERVER_ResponseAllocatorNew,
            TRITONSERVER_Error*(TRITONSERVER_ResponseAllocator**,
                                TRITONSERVER_ResponseAllocatorAllocFn_t,
                                TRITONSERVER_ResponseAllocatorReleaseFn_t,
                                TRITONSERVER_ResponseAllocatorStartFn_t));
NEREID_SAME(TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction,
            TRITONSERVER_Error*(TRITONSERVER_ResponseAllocator*,
                                TRITONSERVER_ResponseAllocatorBufferAttributesFn_t));
NEREID_SAME(TRITONSERVER_ResponseAllocatorSetQueryFunction,
            TRITONSERVER_Error*(TRITONSERVER_ResponseAllocator*,
                                TRITONSERVER_ResponseAllocatorQueryFn_t));
NEREID_SAME(TRITONSERVER_ResponseAllocatorDelete,
            TRITONSERVER_Error*(TRITONSERVER_ResponseAllocator*));
NEREID_SAME(TRITONSERVER_MessageNewFromSerializedJson,
            TRITONSERVER_Error*(TRITONSERVER_Message**, const char*, size_t));
NEREID_SAME(TRITONSERVER_MessageDelete, TRITONSERVER_Error*(TRITONSERVER_Message*));
NEREID_SAME(TRITONSERVER_MessageSerializeToJson,
            TRITONSERVER_Error*(TRITONSERVER_Message*, const char**, size_t*));
NEREID_SAME(TRITONSERVER_MetricsDelete, TRITONSERVER_Error*(TRITONSERVER_Metrics*));
NEREID_SAME(TRITONSERVER_MetricsFormatted,
            TRITONSERVER_Error*(TRITONSERVER_Metrics*, TRITONSERVER_MetricFormat, const char**,
                                size_t*));
NEREID_SAME(TRITONSERVER_InferenceTraceLevelString, const char*(TRITONSERVER_InferenceTraceLevel));
NEREID_SAME(TRITONSERVER_InferenceTraceActivityString,
            const char*(TRITONSERVER_InferenceTraceActivity));
NEREID_SAME(TRITONSERVER_InferenceTraceNew,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace**, TRITONSERVER_InferenceTraceLevel,
                                uint64_t, TRITONSERVER_InferenceTraceActivityFn_t,
                                TRITONSERVER_InferenceTraceReleaseFn_t, void*));
NEREID_SAME(TRITONSERVER_InferenceTraceTensorNew,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace**, TRITONSERVER_InferenceTraceLevel,
                                uint64_t, TRITONSERVER_InferenceTraceActivityFn_t,
                                TRITONSERVER_InferenceTraceTensorActivityFn_t,
                                TRITONSERVER_InferenceTraceReleaseFn_t, void*));
NEREID_SAME(TRITONSERVER_InferenceTraceReportActivity,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, uint64_t, const char*));
NEREID_SAME(TRITONSERVER_InferenceTraceDelete, TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*));
NEREID_SAME(TRITONSERVER_InferenceTraceId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, uint64_t*));
NEREID_SAME(TRITONSERVER_InferenceTraceParentId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, uint64_t*));
NEREID_SAME(TRITONSERVER_InferenceTraceModelName,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, const char**));
NEREID_SAME(TRITONSERVER_InferenceTraceModelVersion,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, int64_t*));
NEREID_SAME(TRITONSERVER_InferenceTraceRequestId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, const char**));
NEREID_SAME(TRITONSERVER_InferenceTraceSpawnChildTrace,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, TRITONSERVER_InferenceTrace**));
NEREID_SAME(TRITONSERVER_InferenceTraceSetContext,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, const char*));
NEREID_SAME(TRITONSERVER_InferenceTraceContext,
            TRITONSERVER_Error*(TRITONSERVER_InferenceTrace*, const char**));
NEREID_SAME(TRITONSERVER_InferenceRequestNew,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest**, TRITONSERVER_Server*, const char*,
                                int64_t));
NEREID_SAME(TRITONSERVER_InferenceRequestDelete,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*));
NEREID_SAME(TRITONSERVER_InferenceRequestId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char**));
NEREID_SAME(TRITONSERVER_InferenceRequestSetId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestFlags,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint32_t*));
NEREID_SAME(TRITONSERVER_InferenceRequestSetFlags,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint32_t));
NEREID_SAME(TRITONSERVER_InferenceRequestCorrelationId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint64_t*));
NEREID_SAME(TRITONSERVER_InferenceRequestCorrelationIdString,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char**));
NEREID_SAME(TRITONSERVER_InferenceRequestSetCorrelationId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint64_t));
NEREID_SAME(TRITONSERVER_InferenceRequestSetCorrelationIdString,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestCancel,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*));
NEREID_SAME(TRITONSERVER_InferenceRequestIsCancelled,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, bool*));
NEREID_SAME(TRITONSERVER_InferenceRequestPriority,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint32_t*));
NEREID_SAME(TRITONSERVER_InferenceRequestPriorityUInt64,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint64_t*));
NEREID_SAME(TRITONSERVER_InferenceRequestSetPriority,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint32_t));
NEREID_SAME(TRITONSERVER_InferenceRequestSetPriorityUInt64,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint64_t));
NEREID_SAME(TRITONSERVER_InferenceRequestTimeoutMicroseconds,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint64_t*));
NEREID_SAME(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, uint64_t));
NEREID_SAME(TRITONSERVER_InferenceRequestAddInput,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, TRITONSERVER_DataType,
                                const int64_t*, uint64_t));
NEREID_SAME(TRITONSERVER_InferenceRequestAddRawInput,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestRemoveInput,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestRemoveAllInputs,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*));
NEREID_SAME(TRITONSERVER_InferenceRequestAppendInputData,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, const void*, size_t,
                                TRITONSERVER_MemoryType, int64_t));
NEREID_SAME(TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, const void*, size_t,
                                TRITONSERVER_MemoryType, int64_t, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, const void*,
                                TRITONSERVER_BufferAttributes*));
NEREID_SAME(TRITONSERVER_InferenceRequestRemoveAllInputData,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestAddRequestedOutput,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestRemoveRequestedOutput,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*));
NEREID_SAME(TRITONSERVER_InferenceRequestSetReleaseCallback,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*,
                                TRITONSERVER_InferenceRequestReleaseFn_t, void*));
NEREID_SAME(TRITONSERVER_InferenceRequestSetResponseCallback,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, TRITONSERVER_ResponseAllocator*,
                                void*, TRITONSERVER_InferenceResponseCompleteFn_t, void*));
NEREID_SAME(TRITONSERVER_InferenceRequestSetStringParameter,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, const char*));
NEREID_SAME(TRITONSERVER_InferenceRequestSetIntParameter,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, int64_t));
NEREID_SAME(TRITONSERVER_InferenceRequestSetBoolParameter,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, bool));
NEREID_SAME(TRITONSERVER_InferenceRequestSetDoubleParameter,
            TRITONSERVER_Error*(TRITONSERVER_InferenceRequest*, const char*, double));
NEREID_SAME(TRITONSERVER_InferenceResponseDelete,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*));
NEREID_SAME(TRITONSERVER_InferenceResponseError,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*));
NEREID_SAME(TRITONSERVER_InferenceResponseModel,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*, const char**, int64_t*));
NEREID_SAME(TRITONSERVER_InferenceResponseId,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*, const char**));
NEREID_SAME(TRITONSERVER_InferenceResponseParameterCount,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*, uint32_t*));
NEREID_SAME(TRITONSERVER_InferenceResponseParameter,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*, uint32_t, const char**,
                                TRITONSERVER_ParameterType*, const void**));
NEREID_SAME(TRITONSERVER_InferenceResponseOutputCount,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*, uint32_t*));
NEREID_SAME(TRITONSERVER_InferenceResponseOutput,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*, uint32_t, const char**,
                                TRITONSERVER_DataType*, const int64_t**, uint64_t*, const void**,
                                size_t*, TRITONSERVER_MemoryType*, int64_t*, void**));
NEREID_SAME(TRITONSERVER_InferenceResponseOutputClassificationLabel,
            TRITONSERVER_Error*(TRITONSERVER_InferenceResponse*, uint32_t, size_t, const char**));
NEREID_SAME(TRITONSERVER_BufferAttributesNew, TRITONSERVER_Error*(TRITONSERVER_BufferAttributes**));
NEREID_SAME(TRITONSERVER_BufferAttributesDelete,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*));
NEREID_SAME(TRITONSERVER_BufferAttributesSetMemoryTypeId,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, int64_t));
NEREID_SAME(TRITONSERVER_BufferAttributesSetMemoryType,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, TRITONSERVER_MemoryType));
NEREID_SAME(TRITONSERVER_BufferAttributesSetCudaIpcHandle,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, void*));
NEREID_SAME(TRITONSERVER_BufferAttributesSetByteSize,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, size_t));
NEREID_SAME(TRITONSERVER_BufferAttributesMemoryTypeId,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, int64_t*));
NEREID_SAME(TRITONSERVER_BufferAttributesMemoryType,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, TRITONSERVER_MemoryType*));
NEREID_SAME(TRITONSERVER_BufferAttributesCudaIpcHandle,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, void**));
NEREID_SAME(TRITONSERVER_BufferAttributesByteSize,
            TRITONSERVER_Error*(TRITONSERVER_BufferAttributes*, size_t*));
NEREID_SAME(TRITONSERVER_ServerOptionsNew, TRITONSERVER_Error*(TRITONSERVER_ServerOptions**));
NEREID_SAME(TRITONSERVER_ServerOptionsDelete, TRITONSERVER_Error*(TRITONSERVER_ServerOptions*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetServerId,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetModelRepositoryPath,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetModelControlMode,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, TRITONSERVER_ModelControlMode));
NEREID_SAME(TRITONSERVER_ServerOptionsSetStartupModel,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetStrictModelConfig,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetModelConfigName,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetRateLimiterMode,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, TRITONSERVER_RateLimitMode));
NEREID_SAME(TRITONSERVER_ServerOptionsAddRateLimiterResource,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*, size_t, int));
NEREID_SAME(TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, uint64_t));
NEREID_SAME(TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, int, uint64_t));
NEREID_SAME(TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, int, size_t));
NEREID_SAME(TRITONSERVER_ServerOptionsSetResponseCacheByteSize,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, uint64_t));
NEREID_SAME(TRITONSERVER_ServerOptionsSetCacheConfig,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetCacheDirectory,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, double));
NEREID_SAME(TRITONSERVER_ServerOptionsSetExitOnError,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetStrictReadiness,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetExitTimeout,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, unsigned int));
NEREID_SAME(TRITONSERVER_ServerOptionsSetBufferManagerThreadCount,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, unsigned int));
NEREID_SAME(TRITONSERVER_ServerOptionsSetModelLoadThreadCount,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, unsigned int));
NEREID_SAME(TRITONSERVER_ServerOptionsSetModelLoadRetryCount,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, unsigned int));
NEREID_SAME(TRITONSERVER_ServerOptionsSetModelNamespacing,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetEnablePeerAccess,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetLogFile,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetLogInfo,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetLogWarn,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetLogError,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetLogFormat,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, TRITONSERVER_LogFormat));
NEREID_SAME(TRITONSERVER_ServerOptionsSetLogVerbose,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, int));
NEREID_SAME(TRITONSERVER_ServerOptionsSetMetrics,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetGpuMetrics,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetCpuMetrics,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, bool));
NEREID_SAME(TRITONSERVER_ServerOptionsSetMetricsInterval,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, uint64_t));
NEREID_SAME(TRITONSERVER_ServerOptionsSetBackendDirectory,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetRepoAgentDirectory,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, TRITONSERVER_InstanceGroupKind, int,
                                double));
NEREID_SAME(TRITONSERVER_ServerOptionsSetBackendConfig,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*, const char*,
                                const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetHostPolicy,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*, const char*,
                                const char*));
NEREID_SAME(TRITONSERVER_ServerOptionsSetMetricsConfig,
            TRITONSERVER_Error*(TRITONSERVER_ServerOptions*, const char*, const char*,
                                const char*));
NEREID_SAME(TRITONSERVER_ServerNew,
            TRITONSERVER_Error*(TRITONSERVER_Server**, TRITONSERVER_ServerOptions*));
NEREID_SAME(TRITONSERVER_ServerDelete, TRITONSERVER_Error*(TRITONSERVER_Server*));
NEREID_SAME(TRITONSERVER_ServerStop, TRITONSERVER_Error*(TRITONSERVER_Server*));
NEREID_SAME(TRITONSERVER_ServerSetExitTimeout,
            TRITONSERVER_Error*(TRITONSERVER_Server*, unsigned int));
NEREID_SAME(TRITONSERVER_ServerRegisterModelRepository,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*, const TRITONSERVER_Parameter**,
                                uint32_t));
NEREID_SAME(TRITONSERVER_ServerUnregisterModelRepository,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*));
NEREID_SAME(TRITONSERVER_ServerPollModelRepository, TRITONSERVER_Error*(TRITONSERVER_Server*));
NEREID_SAME(TRITONSERVER_ServerIsLive, TRITONSERVER_Error*(TRITONSERVER_Server*, bool*));
NEREID_SAME(TRITONSERVER_ServerIsReady, TRITONSERVER_Error*(TRITONSERVER_Server*, bool*));
NEREID_SAME(TRITONSERVER_ServerModelIsReady,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*, int64_t, bool*));
NEREID_SAME(TRITONSERVER_ServerModelBatchProperties,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*, int64_t, uint32_t*, void**));
NEREID_SAME(TRITONSERVER_ServerModelTransactionProperties,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*, int64_t, uint32_t*, void**));
NEREID_SAME(TRITONSERVER_ServerMetadata,
            TRITONSERVER_Error*(TRITONSERVER_Server*, TRITONSERVER_Message**));
NEREID_SAME(TRITONSERVER_ServerModelMetadata, TRITONSERVER_Error*(TRITONSERVER_Server*, const char*,
                                                                  int64_t, TRITONSERVER_Message**));
NEREID_SAME(TRITONSERVER_ServerModelStatistics,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*, int64_t,
                                TRITONSERVER_Message**));
NEREID_SAME(TRITONSERVER_ServerModelConfig,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*, int64_t, uint32_t,
                                TRITONSERVER_Message**));
NEREID_SAME(TRITONSERVER_ServerModelIndex,
            TRITONSERVER_Error*(TRITONSERVER_Server*, uint32_t, TRITONSERVER_Message**));
NEREID_SAME(TRITONSERVER_ServerLoadModel, TRITONSERVER_Error*(TRITONSERVER_Server*, const char*));
NEREID_SAME(TRITONSERVER_ServerLoadModelWithParameters,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*, const TRITONSERVER_Parameter**,
                                uint64_t));
NEREID_SAME(TRITONSERVER_ServerUnloadModel, TRITONSERVER_Error*(TRITONSERVER_Server*, const char*));
NEREID_SAME(TRITONSERVER_ServerUnloadModelAndDependents,
            TRITONSERVER_Error*(TRITONSERVER_Server*, const char*));
NEREID_SAME(TRITONSERVER_ServerMetrics,
            TRITONSERVER_Error*(TRITONSERVER_Server*, TRITONSERVER_Metrics**));
NEREID_SAME(TRITONSERVER_ServerInferAsync,
            TRITONSERVER_Error*(TRITONSERVER_Server*, TRITONSERVER_InferenceRequest*,
                                TRITONSERVER_InferenceTrace*));
NEREID_SAME(NEREID_ServerInferInline, decltype(TRITONSERVER_ServerInferAsync));
NEREID_SAME(TRITONSERVER_MetricFamilyNew,
            TRITONSERVER_Error*(TRITONSERVER_MetricFamily**, TRITONSERVER_MetricKind, const char*,
                                const char*));
NEREID_SAME(TRITONSERVER_MetricFamilyDelete, TRITONSERVER_Error*(TRITONSERVER_MetricFamily*));
NEREID_SAME(TRITONSERVER_GetMetricFamilyKind,
            TRITONSERVER_Error*(TRITONSERVER_MetricFamily*, TRITONSERVER_MetricKind*));
NEREID_SAME(TRITONSERVER_MetricArgsNew, TRITONSERVER_Error*(TRITONSERVER_MetricArgs**));
NEREID_SAME(TRITONSERVER_MetricArgsSetHistogram,
            TRITONSERVER_Error*(TRITONSERVER_MetricArgs*, const double*, uint64_t));
NEREID_SAME(TRITONSERVER_MetricArgsDelete, TRITONSERVER_Error*(TRITONSERVER_MetricArgs*));
NEREID_SAME(TRITONSERVER_MetricNew,
            TRITONSERVER_Error*(TRITONSERVER_Metric**, TRITONSERVER_MetricFamily*,
                                const TRITONSERVER_Parameter**, uint64_t));
NEREID_SAME(TRITONSERVER_MetricNewWithArgs,
            TRITONSERVER_Error*(TRITONSERVER_Metric**, TRITONSERVER_MetricFamily*,
                                const TRITONSERVER_Parameter**, uint64_t,
                                const TRITONSERVER_MetricArgs*));
NEREID_SAME(TRITONSERVER_MetricDelete, TRITONSERVER_Error*(TRITONSERVER_Metric*));
NEREID_SAME(TRITONSERVER_MetricValue, TRITONSERVER_Error*(TRITONSERVER_Metric*, double*));
NEREID_SAME(TRITONSERVER_MetricIncrement, TRITONSERVER_Error*(TRITONSERVER_Metric*, double));
NEREID_SAME(TRITONSERVER_MetricSet, TRITONSERVER_Error*(TRITONSERVER_Metric*, double));
NEREID_SAME(TRITONSERVER_MetricObserve, TRITONSERVER_Error*(TRITONSERVER_Metric*, double));
NEREID_SAME(TRITONSERVER_GetMetricKind,
            TRITONSERVER_Error*(TRITONSERVER_Metric*, TRITONSERVER_MetricKind*));
