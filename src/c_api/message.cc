// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_Message*: JSON documents.
#include "c_objects/message.h"

#include <string>
#include <utility>

#include "c_objects/error.h"

using nereid::CaughtError;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* base,
                                                              size_t byte_size) try {
  std::string json;
  json.reserve(byte_size);  // refuses what no memory holds before its end is computed
  if (byte_size > 0) json.append(base, byte_size);
  *message = new TRITONSERVER_Message{std::move(json)};
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) try {
  delete message;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** base, size_t* byte_size) try {
  *base = message->json.data();
  *byte_size = message->json.size();
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
