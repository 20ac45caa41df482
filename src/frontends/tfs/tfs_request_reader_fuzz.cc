// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary bytes as the body of each request of TensorFlow Serving's API, for models with
// inputs of all kinds. Every resulting tensor must be within memory, have the number of bytes of
// its shape, and not be much larger than the text that it was read from.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "frontends/tfs/tfs_fast_reader.h"
#include "frontends/tfs/tfs_request_reader.h"
#include "frontends/tfs/tfs_testing.h"

namespace {

using nereid::DataType;

std::shared_ptr<nereid::ServingModel> MakeModel(int32_t max_batch_size) {
  return nereid::tfs_testing::MakeTfsModel(
      nereid::tfs_testing::MakeConfig({{"A", DataType::kInt32},
                                       {"B", DataType::kFp64, {2, -1}},
                                       {"C", DataType::kBytes, {1}},
                                       {"D", DataType::kBool, {1}}},
                                      {{"Y"}}, max_batch_size));
}

std::shared_ptr<nereid::ServingModel> MakeModelOf(DataType type) {
  return nereid::tfs_testing::MakeTfsModel(
      nereid::tfs_testing::MakeConfig({{"A", type}}, {{"Y"}}, 4));
}

void Check(const nereid::InferRequest& request, size_t json_size) {
  unsigned sum = 0;
  for (const nereid::InferInput& input : request.inputs()) {
    for (const nereid::InputBuffer& piece : input.buffers()) {
      const auto* bytes = static_cast<const unsigned char*>(piece.base);
      for (uint64_t i = 0; i < piece.byte_size; ++i) sum += bytes[i];
    }
    // What is in the context of examples stands in each of them.
    if (input.byte_size() > 8 * json_size * json_size) std::abort();
    if (input.data_type() == DataType::kBytes) continue;
    const auto size = nereid::TensorByteSize(input.data_type(), input.sent_shape());
    if (size != static_cast<int64_t>(input.byte_size())) std::abort();
  }
  volatile unsigned kept = sum;
  static_cast<void>(kept);
}

// What the fast reader reads, the careful one must read in the same way.
void CheckFast(absl::string_view json, const nereid::RequestLimits& limits,
               const std::shared_ptr<nereid::ServingModel>& model) {
  nereid::RequestBuffers fast_buffers;
  nereid::TfsCall fast;
  nereid::TfsFastTensor tensor;
  if (!nereid::ReadTfsFast(json, limits, model->config(), &fast_buffers, &fast, &tensor)) return;
  nereid::InferRequest request(model, -1);
  nereid::RequestBuffers buffers;
  nereid::TfsCall call;
  if (!nereid::ReadTfsCarefully(json, limits, &request, &buffers, &call).ok()) std::abort();
  const nereid::InferInput& input = request.inputs().front();
  if (fast.rows != call.rows || fast.signature != call.signature) std::abort();
  if (tensor.shape != input.sent_shape() || tensor.size != input.byte_size()) std::abort();
  if (std::memcmp(tensor.bytes, input.buffers().front().base, tensor.size) != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::TfsMethod;
  static const std::shared_ptr<nereid::ServingModel> models[] = {
      MakeModel(0), MakeModel(4), MakeModelOf(DataType::kInt8), MakeModelOf(DataType::kFp32),
      MakeModelOf(DataType::kBytes)};
  // A copy with nothing after the padding, so that reading too far is detected.
  const nereid::codec_testing::PaddedBytes padded(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  const absl::string_view json = padded.view();
  for (const auto& model : models) {
    for (const TfsMethod method :
         {TfsMethod::kPredict, TfsMethod::kClassify, TfsMethod::kRegress}) {
      nereid::InferRequest request(model, -1);
      nereid::RequestBuffers buffers;
      const nereid::RequestLimits limits{/*max_input_size=*/1 << 20};
      nereid::TfsCall call;
      call.method = method;
      if (nereid::ReadTfsRequest(json, limits, &request, &buffers, &call).ok()) {
        Check(request, size);
      }
      if (method == TfsMethod::kPredict) CheckFast(json, limits, model);
    }
  }
  return 0;
}
