// SPDX-License-Identifier: Apache-2.0
#include "base/blake2b.h"

#include <absl/strings/escaping.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace nereid {
namespace {

std::string Hex(Blake2b128::Digest digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string Bytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

std::string HashInSteps(const std::string& bytes, size_t step) {
  Blake2b128 hash;
  for (size_t at = 0; at < bytes.size(); at += step) {
    hash.Update(bytes.data() + at, std::min(step, bytes.size() - at));
  }
  return Hex(hash.Finish());
}

struct Vector {
  size_t size;
  const char* digest;
};
// Made with Python's hashlib.blake2b(digest_size=16).
constexpr Vector kVectors[] = {
    {0, "cae66941d9efbd404e4d88758ea67670"},   {1, "7025e075d5e2f6cde3cc051a31f07660"},
    {127, "28b1296c7d4807883de6ee4ec04dcc0a"}, {128, "a74787004ef589e31149183900d0294a"},
    {129, "aaf1b0371f6d4ee49ee4fb5ddd9c49ef"}, {255, "e2f3b2a57bcf64d626b37fc9c12674a1"},
    {256, "1142c504dcd26338b7cbcf41424540d0"}, {257, "b77b55d3dddcc45c6a52774565cd0dd6"},
    {1000, "bca120dfd89cd95d82898473a5b01c90"}};

TEST(Blake2b128Test, KnownAnswersHoweverTheBytesArrive) {
  for (const Vector& vector : kVectors) {
    const std::string bytes = Bytes(vector.size);
    for (const size_t step : {1, 64, 127, 128, 129, 300, 1000}) {
      EXPECT_EQ(HashInSteps(bytes, step), vector.digest) << vector.size << " in steps of " << step;
    }
  }
}

TEST(Blake2b128Test, CopyGoesOnByItself) {
  const std::string bytes = Bytes(1000);
  Blake2b128 prefix;
  prefix.Update(bytes.data(), 300);
  Blake2b128 other = prefix;
  other.Update("x", 1);
  prefix.Update(bytes.data() + 300, 700);
  EXPECT_EQ(Hex(prefix.Finish()), kVectors[8].digest);
  EXPECT_NE(Hex(other.Finish()), kVectors[8].digest);
}

}  // namespace
}  // namespace nereid
