// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as each of the head fields of a call. What is encoded must be decoded to the
// same, and be allowed in a head field.
#include "frontends/grpc/wire/call_head.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/grpc/wire/message_compression.h"
#include "frontends/grpc/wire/testing/call_head_decoding.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

bool Printable(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy with nothing after it, so that reading too far is detected.
  const std::string bytes(reinterpret_cast<const char*>(data), size);

  const auto timeout = nereid::ParseTimeout(bytes);
  if (timeout.ok()) {
    Require(timeout->has_value() == !bytes.empty());
    if (timeout->has_value()) {
      Require(**timeout >= nereid::Duration::zero() && **timeout <= nereid::kLongestTimeout);
    }
  } else {
    Require(Printable(timeout.status().message()));
  }

  if (nereid::IsGrpcContentType(bytes)) Require(bytes.size() >= 16);

  const std::string percent = nereid::EncodeStatusMessage(bytes);
  Require(Printable(percent) && nereid::DecodeStatusMessage(percent) == bytes);

  const std::string base64 = nereid::EncodeBinaryMetadata(bytes);
  Require(base64.find_first_of("=,") == std::string::npos && Printable(base64));
  Require(nereid::DecodeBinaryMetadata(base64) == bytes);

  const auto coding = nereid::ParseMessageCoding(bytes);
  Require(coding.ok() ? nereid::Accepts(bytes, *coding) : Printable(coding.status().message()));
  const auto chosen = nereid::ChooseMessageCoding(nereid::GrpcCompression::kHigh, bytes);
  Require(nereid::Accepts(bytes, chosen));
  return 0;
}
