// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary bytes as the body of a generate request for models with inputs of all kinds.
// Every resulting tensor must be within memory and have the number of bytes of its shape, and what
// the fast reader reads the careful one must read in the same way.
#include <cstdlib>
#include <memory>
#include <string>

#include "frontends/codec/codec_testing.h"
#include "frontends/codec/generate_readers_testing.h"
#include "frontends/codec/generate_request_reader.h"

namespace {

using nereid::DataType;

std::shared_ptr<nereid::ServingModel> MakeModel(int32_t max_batch_size) {
  return nereid::codec_testing::MakeModelWithInputs({{"A", DataType::kInt32, {-1}},
                                                     {"B", DataType::kFp32, {2, -1}},
                                                     {"C", DataType::kBytes, {1}},
                                                     {"D", DataType::kBool, {-1, -1}},
                                                     {"E", DataType::kUint8, {2, 2}},
                                                     {"F", DataType::kFp16, {-1}},
                                                     {"id", DataType::kBytes, {-1}}},
                                                    max_batch_size);
}

void Check(const nereid::InferRequest& request) {
  unsigned sum = 0;
  for (const nereid::InferInput& input : request.inputs()) {
    for (const nereid::InputBuffer& piece : input.buffers()) {
      const auto* bytes = static_cast<const unsigned char*>(piece.base);
      for (uint64_t i = 0; i < piece.byte_size; ++i) sum += bytes[i];
    }
    if (input.data_type() == DataType::kBytes) continue;
    const auto size = nereid::TensorByteSize(input.data_type(), input.sent_shape());
    if (size != static_cast<int64_t>(input.byte_size())) std::abort();
  }
  volatile unsigned kept = sum;
  static_cast<void>(kept);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::shared_ptr<nereid::ServingModel> models[] = {MakeModel(0), MakeModel(4)};
  // A copy with nothing after the padding, so that reading too far is detected.
  const nereid::codec_testing::PaddedBytes json({reinterpret_cast<const char*>(data), size});
  for (const auto& model : models) {
    nereid::InferRequest request(model, -1);
    nereid::RequestBuffers buffers;
    const nereid::RequestLimits limits{/*max_input_size=*/1 << 20};
    nereid::NonFinite non_finite = nereid::NonFinite::kLiteral;
    if (nereid::ReadGenerateRequest(json.view(), limits, &request, &buffers, &non_finite).ok()) {
      Check(request);
    }
    const nereid::codec_testing::BothGenerateReaders both(json.view(), limits, model);
    if (!both.Difference().empty()) std::abort();
  }
  return 0;
}
