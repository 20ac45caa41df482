// SPDX-License-Identifier: Apache-2.0
#include "caches/redis/frames.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace nereid_cache {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view kMagic = "NRC1";
constexpr size_t kHead = 4 + sizeof(uint32_t);

}  // namespace

void MakeFrames(const std::vector<size_t>& sizes, FramedValue* framed) {
  const size_t head = kHead + sizes.size() * sizeof(uint64_t);
  framed->value.resize(std::accumulate(sizes.begin(), sizes.end(), head));
  char* at = framed->value.data();
  std::memcpy(at, kMagic.data(), kMagic.size());
  const auto count = static_cast<uint32_t>(sizes.size());
  std::memcpy(at + kMagic.size(), &count, sizeof(count));
  at += kHead;
  for (const uint64_t size : sizes) {
    std::memcpy(at, &size, sizeof(size));
    at += sizeof(size);
  }
  framed->buffers.clear();
  for (const size_t size : sizes) {
    framed->buffers.push_back(at);
    at += size;
  }
}

std::optional<std::vector<std::string_view>> ReadFrames(std::string_view value) {
  if (value.size() < kHead || value.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  uint32_t count;
  std::memcpy(&count, value.data() + kMagic.size(), sizeof(count));
  value.remove_prefix(kHead);
  if (count > value.size() / sizeof(uint64_t)) return std::nullopt;
  std::string_view bytes = value.substr(count * sizeof(uint64_t));
  std::vector<std::string_view> buffers;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t size;
    std::memcpy(&size, value.data() + i * sizeof(size), sizeof(size));
    if (size > bytes.size()) return std::nullopt;
    buffers.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  if (!bytes.empty()) return std::nullopt;
  return buffers;
}

}  // namespace nereid_cache
