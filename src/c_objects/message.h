// SPDX-License-Identifier: Apache-2.0
// Complete type behind TRITONSERVER_Message: JSON text. Immutable.
#ifndef NEREID_C_OBJECTS_MESSAGE_H_
#define NEREID_C_OBJECTS_MESSAGE_H_

#include <string>

#include "triton/core/tritonserver.h"

struct TRITONSERVER_Message {
  const std::string json;
};

#endif  // NEREID_C_OBJECTS_MESSAGE_H_
