// SPDX-License-Identifier: Apache-2.0
// The signatures of the functions in tritonrepoagent.h and tritoncache.h, as API version 0.1 of
// each has them. Written from the published interface, not from our headers: a change here breaks
// existing plug-ins. Nothing is executed; the file compiles or it does not.
#include "triton/core/tritoncache.h"
#include "triton/core/tritonrepoagent.h"

#include "tests/conformance/capi/same_type.h"

// Repository agents.
NEREID_SAME(TRITONREPOAGENT_ApiVersion, TRITONSERVER_Error*(uint32_t*, uint32_t*));
NEREID_SAME(TRITONREPOAGENT_ModelRepositoryLocation,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*,
                                TRITONREPOAGENT_ArtifactType*, const char**));
NEREID_SAME(TRITONREPOAGENT_ModelRepositoryLocationAcquire,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*,
                                TRITONREPOAGENT_ArtifactType, const char**));
NEREID_SAME(TRITONREPOAGENT_ModelRepositoryLocationRelease,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*, const char*));
NEREID_SAME(TRITONREPOAGENT_ModelRepositoryUpdate,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*,
                                TRITONREPOAGENT_ArtifactType, const char*));
NEREID_SAME(TRITONREPOAGENT_ModelParameterCount,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*, uint32_t*));
NEREID_SAME(TRITONREPOAGENT_ModelParameter,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*, uint32_t,
                                const char**, const char**));
NEREID_SAME(TRITONREPOAGENT_ModelConfig,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*, uint32_t,
                                TRITONSERVER_Message**));
NEREID_SAME(TRITONREPOAGENT_ModelState, TRITONSERVER_Error*(TRITONREPOAGENT_AgentModel*, void**));
NEREID_SAME(TRITONREPOAGENT_ModelSetState, TRITONSERVER_Error*(TRITONREPOAGENT_AgentModel*, void*));
NEREID_SAME(TRITONREPOAGENT_State, TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, void**));
NEREID_SAME(TRITONREPOAGENT_SetState, TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, void*));
NEREID_SAME(TRITONREPOAGENT_Initialize, TRITONSERVER_Error*(TRITONREPOAGENT_Agent*));
NEREID_SAME(TRITONREPOAGENT_Finalize, TRITONSERVER_Error*(TRITONREPOAGENT_Agent*));
NEREID_SAME(TRITONREPOAGENT_ModelInitialize,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*));
NEREID_SAME(TRITONREPOAGENT_ModelFinalize,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*));
NEREID_SAME(TRITONREPOAGENT_ModelAction,
            TRITONSERVER_Error*(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*,
                                TRITONREPOAGENT_ActionType));

// Response caches.
NEREID_SAME(TRITONCACHE_ApiVersion, TRITONSERVER_Error*(uint32_t*, uint32_t*));
NEREID_SAME(TRITONCACHE_CacheEntryBufferCount,
            TRITONSERVER_Error*(TRITONCACHE_CacheEntry*, size_t*));
NEREID_SAME(TRITONCACHE_CacheEntryAddBuffer,
            TRITONSERVER_Error*(TRITONCACHE_CacheEntry*, void*, TRITONSERVER_BufferAttributes*));
NEREID_SAME(TRITONCACHE_CacheEntryGetBuffer,
            TRITONSERVER_Error*(TRITONCACHE_CacheEntry*, size_t, void**,
                                TRITONSERVER_BufferAttributes*));
NEREID_SAME(TRITONCACHE_CacheEntrySetBuffer,
            TRITONSERVER_Error*(TRITONCACHE_CacheEntry*, size_t, void*,
                                TRITONSERVER_BufferAttributes*));
NEREID_SAME(TRITONCACHE_Copy, TRITONSERVER_Error*(TRITONCACHE_Allocator*, TRITONCACHE_CacheEntry*));
NEREID_SAME(TRITONCACHE_CacheInitialize, TRITONSERVER_Error*(TRITONCACHE_Cache**, const char*));
NEREID_SAME(TRITONCACHE_CacheFinalize, TRITONSERVER_Error*(TRITONCACHE_Cache*));
NEREID_SAME(TRITONCACHE_CacheInsert,
            TRITONSERVER_Error*(TRITONCACHE_Cache*, const char*, TRITONCACHE_CacheEntry*,
                                TRITONCACHE_Allocator*));
NEREID_SAME(TRITONCACHE_CacheLookup,
            TRITONSERVER_Error*(TRITONCACHE_Cache*, const char*, TRITONCACHE_CacheEntry*,
                                TRITONCACHE_Allocator*));
