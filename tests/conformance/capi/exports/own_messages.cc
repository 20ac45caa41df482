// SPDX-License-Identifier: Apache-2.0
// A module that holds the classes of the public .proto files, as one with a client of the server
// does.
#include <google/protobuf/text_format.h>

#include <string>

#include "public/grpc_service.pb.h"

extern "C" bool UseModule() {
  inference::ModelConfigResponse response;
  const bool parsed = google::protobuf::TextFormat::ParseFromString(
      "config { name: 'm' input { name: 'x' dims: [ 1, -1 ] } }", &response);
  inference::ModelConfigResponse copy;
  if (!parsed || !copy.ParseFromString(response.SerializeAsString())) return false;
  response.Clear();
  return copy.config().input(0).dims(1) == -1 && !response.has_config() &&
         copy.GetTypeName() == "inference.ModelConfigResponse";
}
