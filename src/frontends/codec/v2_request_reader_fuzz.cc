// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary bytes as the body of a request. Input: two bytes with the length of the JSON
// (65535: the whole body), then the body. The careful JSON reader must read the same as the fast
// one; tensors must be within the received or decoded bytes.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "frontends/codec/codec_testing.h"
#include "frontends/codec/json_readers_testing.h"
#include "frontends/codec/v2_request_reader.h"

namespace {

constexpr uint64_t kLimit = uint64_t{1} << 20;

// Reads every byte, so that the sanitizers detect a tensor outside of them.
void Touch(const nereid::InferRequest& request) {
  unsigned sum = 0;
  for (const nereid::InferInput& input : request.inputs()) {
    for (const nereid::InputBuffer& piece : input.buffers()) {
      const auto* bytes = static_cast<const unsigned char*>(piece.base);
      for (uint64_t i = 0; i < piece.byte_size; ++i) sum += bytes[i];
    }
  }
  volatile unsigned kept = sum;
  static_cast<void>(kept);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  uint16_t json_size;
  std::memcpy(&json_size, data, sizeof(json_size));
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::optional<size_t> header_length;
  if (json_size != 65535) header_length = json_size;
  const nereid::codec_testing::PaddedBytes body(bytes, header_length.value_or(0));

  static const auto model = nereid::codec_testing::MakeModel();
  nereid::InferRequest request(model, -1);
  nereid::RequestBuffers buffers;
  nereid::OutputFormats formats;
  const absl::Status status =
      nereid::ReadV2Request({body.data(), body.size(), header_length},
                            nereid::RequestLimits{kLimit}, &request, &buffers, &formats);
  if (status.ok()) Touch(request);

  if (!nereid::codec_testing::BothReaders(body.view(), kLimit).Agree()) std::abort();
  return 0;
}
