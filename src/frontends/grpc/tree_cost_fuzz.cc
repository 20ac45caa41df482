// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as the request of every method. Protobuf must not need more memory to parse them
// than foretold, and only requests that protobuf refuses may be refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/grpc/testing/methods.h"
#include "frontends/grpc/tree_cost.h"

// Repeated, a small input becomes a large request.
constexpr int kTimes = 64;

namespace {

void Check(const google::protobuf::MethodDescriptor& method, const std::string& bytes) {
  const auto request = nereid::NewRequest(method);
  const auto foretold = nereid::ForetellTree(*method.input_type(), bytes);
  const bool read = request->ParseFromString(bytes);
  if (!foretold.has_value()) {
    if (read) std::abort();
    return;
  }
  if (request->SpaceUsedLong() > foretold->bytes || foretold->work > bytes.size()) std::abort();
  // A scan that ends early has seen at least as much as it was allowed to.
  const uint64_t most = foretold->work / 2;
  const auto begun = nereid::ForetellTree(*method.input_type(), bytes, most);
  if (!begun.has_value() || (foretold->work > most && begun->work <= most)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* const methods =
      new std::vector<const google::protobuf::MethodDescriptor*>(nereid::AllMethods());
  const std::string once(reinterpret_cast<const char*>(data), size);
  std::string bytes;
  for (int i = 0; i < kTimes; ++i) bytes += once;
  for (const google::protobuf::MethodDescriptor* method : *methods) Check(*method, bytes);
  return 0;
}
