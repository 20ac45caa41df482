// SPDX-License-Identifier: Apache-2.0
// The version of the API and the names of its enumerators.
#include "c_api/handles.h"
#include "c_objects/error.h"
#include "model/data_type.h"

using nereid::CaughtError;
using nereid::DataType;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor) try {
  *major = TRITONSERVER_API_VERSION_MAJOR;
  *minor = TRITONSERVER_API_VERSION_MINOR;
  return nullptr;
} catch (...) {
  return CaughtError();
}

const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype) {
  return nereid::DataTypeName(static_cast<DataType>(datatype));
}

TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* dtype) {
  return static_cast<TRITONSERVER_DataType>(nereid::ParseDataType(nereid::Text(dtype)));
}

uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype) {
  return nereid::DataTypeByteSize(static_cast<DataType>(datatype));
}

const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType memtype) {
  switch (memtype) {
    case TRITONSERVER_MEMORY_CPU:
      return "CPU";
    case TRITONSERVER_MEMORY_CPU_PINNED:
      return "CPU_PINNED";
    case TRITONSERVER_MEMORY_GPU:
      return "GPU";
  }
  return "<invalid>";
}

const char* TRITONSERVER_InstanceGroupKindString(TRITONSERVER_InstanceGroupKind kind) {
  switch (kind) {
    case TRITONSERVER_INSTANCEGROUPKIND_AUTO:
      return "AUTO";
    case TRITONSERVER_INSTANCEGROUPKIND_CPU:
      return "CPU";
    case TRITONSERVER_INSTANCEGROUPKIND_GPU:
      return "GPU";
    case TRITONSERVER_INSTANCEGROUPKIND_MODEL:
      return "MODEL";
  }
  return "<invalid>";
}

}  // extern "C"
