// Arbitrary bytes as a request. Protobuf must not need more memory to parse them than predicted,
// and only requests that protobuf refuses may be refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/grpc/tree_cost.h"
#include "grpc_service.pb.h"

// Repeated, a small input becomes a large request.
constexpr int kTimes = 64;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string once(reinterpret_cast<const char*>(data), size);
  std::string bytes;
  for (int i = 0; i < kTimes; ++i) bytes += once;
  inference::ModelInferRequest request;
  const auto foretold = nereid::TreeCost(bytes);
  const bool read = request.ParseFromString(bytes);
  request.clear_raw_input_contents();
  if (foretold.has_value() ? request.SpaceUsedLong() > *foretold : read) std::abort();
  return 0;
}
