// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as the message of each inference method of TensorFlow Serving's API. What is read
// must have as many elements as its shape says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/grpc/tfs/tensor_proto.h"
#include "frontends/grpc/tfs/tfs_request.h"
#include "frontends/tfs/tfs_testing.h"

namespace nereid {
namespace {

void CheckInput(const InferInput& input) {
  std::string bytes;
  for (const InputBuffer& buffer : input.buffers()) {
    bytes.append(static_cast<const char*>(buffer.base), buffer.byte_size);
  }
  const auto count = ElementCount(input.sent_shape());
  if (!count.has_value()) std::abort();
  const bool fits = input.data_type() == DataType::kBytes
                        ? CountBytesElements(bytes) == *count
                        : TensorByteSize(input.data_type(), input.sent_shape()) ==
                              static_cast<int64_t>(bytes.size());
  if (!fits) std::abort();
}

void Read(TfsMethod method, const std::shared_ptr<ServingModel>& model, absl::string_view bytes) {
  TfsRequest message(method);
  if (!message.Parse(bytes, nullptr, nullptr).ok()) return;
  message.ReadsQuickly();
  ReadModelSpec(message.model_spec()).IgnoreError();
  InferRequest request(model, -1);
  RequestBuffers buffers;
  TfsAnswer answer;
  if (!message.Read(&request, &buffers, &answer).ok()) return;
  for (const InferInput& input : request.inputs()) CheckInput(input);
}

}  // namespace
}  // namespace nereid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::DataType;
  static const auto* const models = [] {
    auto* const made = new std::vector<std::shared_ptr<nereid::ServingModel>>();
    for (const DataType type : {DataType::kFp32, DataType::kInt8, DataType::kBytes}) {
      made->push_back(nereid::tfs_testing::MakeTfsModel(
          nereid::tfs_testing::MakeConfig({{"x", type}}, {{"y"}}, /*max_batch_size=*/0)));
    }
    return made;
  }();
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto& model : *models) {
    for (const nereid::TfsMethod method :
         {nereid::TfsMethod::kPredict, nereid::TfsMethod::kClassify, nereid::TfsMethod::kRegress}) {
      nereid::Read(method, model, bytes);
    }
  }
  return 0;
}
