// SPDX-License-Identifier: Apache-2.0
// Splits arbitrary bytes twice, in one piece and in several; both results must agree, and no byte
// may be lost.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "frontends/grpc/proto_reader.h"

namespace {

using nereid::RawContent;
using nereid::SplitInferRequest;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Join(const SplitInferRequest& split, const RawContent& content) {
  std::string joined;
  for (absl::string_view piece : split.PiecesOf(content)) {
    joined.append(piece.data(), piece.size());
  }
  Require(joined.size() == content.byte_size);
  return joined;
}

}  // namespace

// The first byte determines the length of the buffers.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t step = data[0] % 32 + 1;
  const std::string whole(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> parts;
  for (size_t at = 0; at < whole.size(); at += step) parts.push_back(whole.substr(at, step));
  const std::vector<absl::string_view> views(parts.begin(), parts.end());

  SplitInferRequest in_one, in_parts;
  const bool ok = nereid::SplitMessage({absl::string_view(whole)}, &in_one);
  Require(nereid::SplitMessage(views, &in_parts) == ok);
  if (!ok) return 0;
  Require(in_one.header == in_parts.header);
  Require(in_one.raw_contents.size() == in_parts.raw_contents.size());
  size_t total = in_one.header.size();
  for (size_t i = 0; i < in_one.raw_contents.size(); ++i) {
    const std::string raw = Join(in_one, in_one.raw_contents[i]);
    Require(raw == Join(in_parts, in_parts.raw_contents[i]));
    total += raw.size();
  }
  Require(total <= whole.size());
  return 0;
}
