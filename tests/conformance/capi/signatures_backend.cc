// SPDX-License-Identifier: Apache-2.0
// The signatures of the functions in tritonbackend.h, as backend API version 1.19 has
// them. Written from the published interface, not from our header: a change here breaks existing
// programs. Nothing is executed; the file compiles or it does not.
#include "triton/core/tritonbackend.h"

#include "nereid/backend.h"
#include "tests/conformance/capi/same_type.h"

NEREID_SAME(TRITONBACKEND_ApiVersion, TRITONSERVER_Error*(uint32_t*, uint32_t*));
NEREID_SAME(TRITONBACKEND_MemoryManagerAllocate,
            TRITONSERVER_Error*(TRITONBACKEND_MemoryManager*, void**, TRITONSERVER_MemoryType,
                                int64_t, uint64_t));
NEREID_SAME(TRITONBACKEND_MemoryManagerFree,
            TRITONSERVER_Error*(TRITONBACKEND_MemoryManager*, void*, TRITONSERVER_MemoryType,
                                int64_t));
NEREID_SAME(TRITONBACKEND_InputProperties,
            TRITONSERVER_Error*(TRITONBACKEND_Input*, const char**, TRITONSERVER_DataType*,
                                const int64_t**, uint32_t*, uint64_t*, uint32_t*));
NEREID_SAME(TRITONBACKEND_InputPropertiesForHostPolicy,
            TRITONSERVER_Error*(TRITONBACKEND_Input*, const char*, const char**,
                                TRITONSERVER_DataType*, const int64_t**, uint32_t*, uint64_t*,
                                uint32_t*));
NEREID_SAME(TRITONBACKEND_InputBuffer,
            TRITONSERVER_Error*(TRITONBACKEND_Input*, uint32_t, const void**, uint64_t*,
                                TRITONSERVER_MemoryType*, int64_t*));
NEREID_SAME(TRITONBACKEND_InputBufferForHostPolicy,
            TRITONSERVER_Error*(TRITONBACKEND_Input*, const char*, uint32_t, const void**,
                                uint64_t*, TRITONSERVER_MemoryType*, int64_t*));
NEREID_SAME(TRITONBACKEND_InputBufferAttributes,
            TRITONSERVER_Error*(TRITONBACKEND_Input*, uint32_t, const void**,
                                TRITONSERVER_BufferAttributes**));
NEREID_SAME(TRITONBACKEND_OutputBuffer, TRITONSERVER_Error*(TRITONBACKEND_Output*, void**, uint64_t,
                                                            TRITONSERVER_MemoryType*, int64_t*));
NEREID_SAME(TRITONBACKEND_OutputBufferAttributes,
            TRITONSERVER_Error*(TRITONBACKEND_Output*, TRITONSERVER_BufferAttributes**));
NEREID_SAME(TRITONBACKEND_RequestId, TRITONSERVER_Error*(TRITONBACKEND_Request*, const char**));
NEREID_SAME(TRITONBACKEND_RequestIsCancelled, TRITONSERVER_Error*(TRITONBACKEND_Request*, bool*));
NEREID_SAME(TRITONBACKEND_RequestCorrelationId,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint64_t*));
NEREID_SAME(TRITONBACKEND_InferenceRequestTimeoutMicroseconds,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint64_t*));
NEREID_SAME(TRITONBACKEND_RequestCorrelationIdString,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, const char**));
NEREID_SAME(TRITONBACKEND_RequestFlags, TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t*));
NEREID_SAME(TRITONBACKEND_RequestParameterCount,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t*));
NEREID_SAME(TRITONBACKEND_RequestParameter,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t, const char**,
                                TRITONSERVER_ParameterType*, const void**));
NEREID_SAME(TRITONBACKEND_RequestInputCount,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t*));
NEREID_SAME(TRITONBACKEND_RequestInputName,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t, const char**));
NEREID_SAME(TRITONBACKEND_RequestInput,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, const char*, TRITONBACKEND_Input**));
NEREID_SAME(TRITONBACKEND_RequestInputByIndex,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t, TRITONBACKEND_Input**));
NEREID_SAME(TRITONBACKEND_RequestOutputCount,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t*));
NEREID_SAME(TRITONBACKEND_RequestOutputName,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t, const char**));
NEREID_SAME(TRITONBACKEND_RequestOutputBufferProperties,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, const char*, size_t*,
                                TRITONSERVER_MemoryType*, int64_t*));
NEREID_SAME(TRITONBACKEND_RequestRelease, TRITONSERVER_Error*(TRITONBACKEND_Request*, uint32_t));
NEREID_SAME(TRITONBACKEND_RequestTrace,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, TRITONSERVER_InferenceTrace**));
NEREID_SAME(TRITONBACKEND_ResponseFactoryIsCancelled,
            TRITONSERVER_Error*(TRITONBACKEND_ResponseFactory*, bool*));
NEREID_SAME(TRITONBACKEND_ResponseFactoryNew,
            TRITONSERVER_Error*(TRITONBACKEND_ResponseFactory**, TRITONBACKEND_Request*));
NEREID_SAME(TRITONBACKEND_ResponseFactoryDelete,
            TRITONSERVER_Error*(TRITONBACKEND_ResponseFactory*));
NEREID_SAME(TRITONBACKEND_ResponseFactorySendFlags,
            TRITONSERVER_Error*(TRITONBACKEND_ResponseFactory*, uint32_t));
NEREID_SAME(TRITONBACKEND_ResponseNew,
            TRITONSERVER_Error*(TRITONBACKEND_Response**, TRITONBACKEND_Request*));
NEREID_SAME(TRITONBACKEND_ResponseNewFromFactory,
            TRITONSERVER_Error*(TRITONBACKEND_Response**, TRITONBACKEND_ResponseFactory*));
NEREID_SAME(TRITONBACKEND_ResponseDelete, TRITONSERVER_Error*(TRITONBACKEND_Response*));
NEREID_SAME(TRITONBACKEND_ResponseSetStringParameter,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, const char*, const char*));
NEREID_SAME(TRITONBACKEND_ResponseSetIntParameter,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, const char*, int64_t));
NEREID_SAME(TRITONBACKEND_ResponseSetBoolParameter,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, const char*, bool));
NEREID_SAME(TRITONBACKEND_ResponseSetDoubleParameter,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, const char*, double));
NEREID_SAME(TRITONBACKEND_ResponseOutput,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, TRITONBACKEND_Output**, const char*,
                                TRITONSERVER_DataType, const int64_t*, uint32_t));
NEREID_SAME(TRITONBACKEND_ResponseSend,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, uint32_t, TRITONSERVER_Error*));
NEREID_SAME(TRITONBACKEND_InferenceResponseOutputByName,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, const char*, TRITONSERVER_DataType*,
                                const int64_t**, uint64_t*));
NEREID_SAME(TRITONBACKEND_InferenceResponseOutput,
            TRITONSERVER_Error*(TRITONBACKEND_Response*, uint32_t, const char**,
                                TRITONSERVER_DataType*, const int64_t**, uint64_t*));
NEREID_SAME(TRITONBACKEND_StateNew,
            TRITONSERVER_Error*(TRITONBACKEND_State**, TRITONBACKEND_Request*, const char*,
                                TRITONSERVER_DataType, const int64_t*, uint32_t));
NEREID_SAME(TRITONBACKEND_StateUpdate, TRITONSERVER_Error*(TRITONBACKEND_State*));
NEREID_SAME(TRITONBACKEND_StateBuffer, TRITONSERVER_Error*(TRITONBACKEND_State*, void**, uint64_t,
                                                           TRITONSERVER_MemoryType*, int64_t*));
NEREID_SAME(TRITONBACKEND_StateBufferAttributes,
            TRITONSERVER_Error*(TRITONBACKEND_State*, TRITONSERVER_BufferAttributes**));
NEREID_SAME(TRITONBACKEND_BackendName, TRITONSERVER_Error*(TRITONBACKEND_Backend*, const char**));
NEREID_SAME(TRITONBACKEND_BackendConfig,
            TRITONSERVER_Error*(TRITONBACKEND_Backend*, TRITONSERVER_Message**));
NEREID_SAME(TRITONBACKEND_BackendExecutionPolicy,
            TRITONSERVER_Error*(TRITONBACKEND_Backend*, TRITONBACKEND_ExecutionPolicy*));
NEREID_SAME(TRITONBACKEND_BackendSetExecutionPolicy,
            TRITONSERVER_Error*(TRITONBACKEND_Backend*, TRITONBACKEND_ExecutionPolicy));
NEREID_SAME(TRITONBACKEND_BackendArtifacts,
            TRITONSERVER_Error*(TRITONBACKEND_Backend*, TRITONBACKEND_ArtifactType*, const char**));
NEREID_SAME(TRITONBACKEND_BackendMemoryManager,
            TRITONSERVER_Error*(TRITONBACKEND_Backend*, TRITONBACKEND_MemoryManager**));
NEREID_SAME(TRITONBACKEND_BackendState, TRITONSERVER_Error*(TRITONBACKEND_Backend*, void**));
NEREID_SAME(TRITONBACKEND_BackendSetState, TRITONSERVER_Error*(TRITONBACKEND_Backend*, void*));
NEREID_SAME(TRITONBACKEND_ModelName, TRITONSERVER_Error*(TRITONBACKEND_Model*, const char**));
NEREID_SAME(TRITONBACKEND_ModelVersion, TRITONSERVER_Error*(TRITONBACKEND_Model*, uint64_t*));
NEREID_SAME(TRITONBACKEND_ModelRepository,
            TRITONSERVER_Error*(TRITONBACKEND_Model*, TRITONBACKEND_ArtifactType*, const char**));
NEREID_SAME(TRITONBACKEND_ModelConfig,
            TRITONSERVER_Error*(TRITONBACKEND_Model*, uint32_t, TRITONSERVER_Message**));
NEREID_SAME(TRITONBACKEND_ModelAutoCompleteConfig,
            TRITONSERVER_Error*(TRITONBACKEND_Model*, bool*));
NEREID_SAME(TRITONBACKEND_ModelSetConfig,
            TRITONSERVER_Error*(TRITONBACKEND_Model*, uint32_t, TRITONSERVER_Message*));
NEREID_SAME(TRITONBACKEND_ModelServer,
            TRITONSERVER_Error*(TRITONBACKEND_Model*, TRITONSERVER_Server**));
NEREID_SAME(TRITONBACKEND_ModelBackend,
            TRITONSERVER_Error*(TRITONBACKEND_Model*, TRITONBACKEND_Backend**));
NEREID_SAME(TRITONBACKEND_ModelState, TRITONSERVER_Error*(TRITONBACKEND_Model*, void**));
NEREID_SAME(TRITONBACKEND_ModelSetState, TRITONSERVER_Error*(TRITONBACKEND_Model*, void*));
NEREID_SAME(TRITONBACKEND_ModelReportMemoryUsage,
            TRITONSERVER_Error*(TRITONBACKEND_Model*, TRITONSERVER_BufferAttributes**, uint32_t));
NEREID_SAME(TRITONBACKEND_ModelInstanceName,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, const char**));
NEREID_SAME(TRITONBACKEND_ModelInstanceKind,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, TRITONSERVER_InstanceGroupKind*));
NEREID_SAME(TRITONBACKEND_ModelInstanceDeviceId,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, int32_t*));
NEREID_SAME(TRITONBACKEND_ModelInstanceHostPolicy,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, TRITONSERVER_Message**));
NEREID_SAME(TRITONBACKEND_ModelInstanceIsPassive,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, bool*));
NEREID_SAME(TRITONBACKEND_ModelInstanceProfileCount,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, uint32_t*));
NEREID_SAME(TRITONBACKEND_ModelInstanceProfileName,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, uint32_t, const char**));
NEREID_SAME(TRITONBACKEND_ModelInstanceSecondaryDeviceCount,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, uint32_t*));
NEREID_SAME(TRITONBACKEND_ModelInstanceSecondaryDeviceProperties,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, uint32_t, const char**, int64_t*));
NEREID_SAME(TRITONBACKEND_ModelInstanceModel,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Model**));
NEREID_SAME(TRITONBACKEND_ModelInstanceState,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, void**));
NEREID_SAME(TRITONBACKEND_ModelInstanceSetState,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, void*));
NEREID_SAME(TRITONBACKEND_ModelInstanceReportMemoryUsage,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, TRITONSERVER_BufferAttributes**,
                                uint32_t));
NEREID_SAME(TRITONBACKEND_ModelInstanceReportStatistics,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request*, bool,
                                uint64_t, uint64_t, uint64_t, uint64_t));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsNew,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics**));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsDelete,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*,
                                TRITONBACKEND_ModelInstance*));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*,
                                TRITONBACKEND_ResponseFactory*));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*, uint64_t));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*, uint64_t));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*, uint64_t));
NEREID_SAME(TRITONBACKEND_ModelInstanceResponseStatisticsSetError,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*,
                                TRITONSERVER_Error*));
NEREID_SAME(TRITONBACKEND_ModelInstanceReportResponseStatistics,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstanceResponseStatistics*));
NEREID_SAME(TRITONBACKEND_ModelInstanceReportBatchStatistics,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, uint64_t, uint64_t, uint64_t,
                                uint64_t, uint64_t));
NEREID_SAME(TRITONBACKEND_Initialize, TRITONSERVER_Error*(TRITONBACKEND_Backend*));
NEREID_SAME(TRITONBACKEND_Finalize, TRITONSERVER_Error*(TRITONBACKEND_Backend*));
NEREID_SAME(TRITONBACKEND_ModelInitialize, TRITONSERVER_Error*(TRITONBACKEND_Model*));
NEREID_SAME(TRITONBACKEND_ModelFinalize, TRITONSERVER_Error*(TRITONBACKEND_Model*));
NEREID_SAME(TRITONBACKEND_ModelInstanceInitialize,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*));
NEREID_SAME(TRITONBACKEND_ModelInstanceFinalize, TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*));
NEREID_SAME(TRITONBACKEND_ModelInstanceExecute,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**, uint32_t));
NEREID_SAME(TRITONBACKEND_ModelInstanceReady, TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*));
NEREID_SAME(TRITONBACKEND_GetBackendAttribute,
            TRITONSERVER_Error*(TRITONBACKEND_Backend*, TRITONBACKEND_BackendAttribute*));
NEREID_SAME(TRITONBACKEND_ModelBatcherInitialize,
            TRITONSERVER_Error*(TRITONBACKEND_Batcher**, TRITONBACKEND_Model*));
NEREID_SAME(TRITONBACKEND_ModelBatcherFinalize, TRITONSERVER_Error*(TRITONBACKEND_Batcher*));
NEREID_SAME(TRITONBACKEND_ModelBatchIncludeRequest,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, void*, bool*));
NEREID_SAME(TRITONBACKEND_ModelBatchInitialize,
            TRITONSERVER_Error*(const TRITONBACKEND_Batcher*, void**));
NEREID_SAME(TRITONBACKEND_ModelBatchFinalize, TRITONSERVER_Error*(void*));
NEREID_SAME(TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup,
            TRITONSERVER_Error*(TRITONBACKEND_BackendAttribute*, TRITONSERVER_InstanceGroupKind,
                                uint64_t, const uint64_t*, uint64_t));
NEREID_SAME(TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading,
            TRITONSERVER_Error*(TRITONBACKEND_BackendAttribute*, bool));
NEREID_SAME(NEREID_OutputLend, TRITONSERVER_Error*(TRITONBACKEND_Output*, const void*, uint64_t,
                                                   void (*)(void*), void*, bool*));
NEREID_SAME(NEREID_InputFileMemory,
            TRITONSERVER_Error*(TRITONBACKEND_Input*, uint32_t, NEREID_FileMemory*));
NEREID_SAME(NEREID_RequestOutputFileMemory,
            TRITONSERVER_Error*(TRITONBACKEND_Request*, const char*, NEREID_FileMemory*));
NEREID_SAME(NEREID_RequestPriority, TRITONSERVER_Error*(TRITONBACKEND_Request*, uint64_t*));
NEREID_SAME(NEREID_ModelExecutesBriefly, TRITONSERVER_Error*(TRITONBACKEND_Model*));
NEREID_SAME(NEREID_ModelInstanceOnLoan, TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, bool*));
NEREID_SAME(NEREID_ModelInstanceSetAvailable,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, bool));
NEREID_SAME(NEREID_ModelInstanceSetLendable,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, bool));
NEREID_SAME(NEREID_ModelInstanceSetMostSeparate,
            TRITONSERVER_Error*(TRITONBACKEND_ModelInstance*, uint32_t));
NEREID_SAME(NEREID_ResponseFactoryCredit,
            TRITONSERVER_Error*(TRITONBACKEND_ResponseFactory*, bool*));
NEREID_SAME(NEREID_ResponseFactoryOnCredit,
            TRITONSERVER_Error*(TRITONBACKEND_ResponseFactory*, void (*)(void*), void*));
NEREID_SAME(NEREID_SendTogether, TRITONSERVER_Error*(void (*)(void*), void*));
NEREID_SAME(NEREID_GpuStreamNew,
            TRITONSERVER_Error*(NEREID_GpuStream**, TRITONBACKEND_ModelInstance*));
NEREID_SAME(NEREID_GpuStreamDelete, TRITONSERVER_Error*(NEREID_GpuStream*));
NEREID_SAME(NEREID_GpuStreamNative, TRITONSERVER_Error*(NEREID_GpuStream*, void**));
NEREID_SAME(NEREID_GpuStreamCopy,
            TRITONSERVER_Error*(NEREID_GpuStream*, const NEREID_GpuCopy*, uint32_t));
NEREID_SAME(NEREID_GpuStreamRecord, TRITONSERVER_Error*(NEREID_GpuStream*, NEREID_GpuEvent*));
NEREID_SAME(NEREID_GpuStreamWait, TRITONSERVER_Error*(NEREID_GpuStream*, NEREID_GpuEvent*));
NEREID_SAME(NEREID_GpuEventNew,
            TRITONSERVER_Error*(NEREID_GpuEvent**, TRITONBACKEND_ModelInstance*));
NEREID_SAME(NEREID_GpuEventDelete, TRITONSERVER_Error*(NEREID_GpuEvent*));
NEREID_SAME(NEREID_GpuEventSynchronize, TRITONSERVER_Error*(NEREID_GpuEvent*));
NEREID_SAME(NEREID_GpuEventElapsed,
            TRITONSERVER_Error*(NEREID_GpuEvent*, NEREID_GpuEvent*, uint64_t*));
