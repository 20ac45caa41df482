// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a reflection request. Each answer must be a message with one of the responses,
// to the request as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/grpc/reflection.h"
#include "reflection_v1.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::reflection::v1::ServerReflectionRequest;
  using nereid::reflection::v1::ServerReflectionResponse;
  static const auto* const reflection = new nereid::Reflection(nereid::GrpcApi::kInference);
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::string> answer = reflection->Answer(bytes);
  if (!answer.ok()) return 0;
  ServerReflectionRequest request;
  ServerReflectionResponse response;
  if (!request.ParseFromArray(data, static_cast<int>(size))) std::abort();
  if (!response.ParseFromString(*answer)) std::abort();
  if (response.original_request().message_request_case() != request.message_request_case()) {
    std::abort();
  }
  const bool answered =
      response.message_response_case() != ServerReflectionResponse::MESSAGE_RESPONSE_NOT_SET;
  if (!answered) std::abort();
  return 0;
}
