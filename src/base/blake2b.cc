// SPDX-License-Identifier: Apache-2.0
#include "base/blake2b.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace nereid {
namespace {

// The fractional parts of the square roots of the first eight primes.
constexpr std::array<uint64_t, 8> kInitial = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// Which words of the block each round takes, in pairs.
constexpr uint8_t kSchedule[12][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                       {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                       {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                       {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                       {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                       {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                       {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                       {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                       {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                       {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
                                       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                       {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

inline void Mix(uint64_t* a, uint64_t* b, uint64_t* c, uint64_t* d, uint64_t x, uint64_t y) {
  *a += *b + x;
  *d = std::rotr(*d ^ *a, 32);
  *c += *d;
  *b = std::rotr(*b ^ *c, 24);
  *a += *b + y;
  *d = std::rotr(*d ^ *a, 16);
  *c += *d;
  *b = std::rotr(*b ^ *c, 63);
}

// One round; a template, so that the compiler knows which words the round takes.
template <size_t round>
inline void Round(uint64_t* v, const uint64_t* m) {
  constexpr const uint8_t* s = kSchedule[round];
  Mix(&v[0], &v[4], &v[8], &v[12], m[s[0]], m[s[1]]);
  Mix(&v[1], &v[5], &v[9], &v[13], m[s[2]], m[s[3]]);
  Mix(&v[2], &v[6], &v[10], &v[14], m[s[4]], m[s[5]]);
  Mix(&v[3], &v[7], &v[11], &v[15], m[s[6]], m[s[7]]);
  Mix(&v[0], &v[5], &v[10], &v[15], m[s[8]], m[s[9]]);
  Mix(&v[1], &v[6], &v[11], &v[12], m[s[10]], m[s[11]]);
  Mix(&v[2], &v[7], &v[8], &v[13], m[s[12]], m[s[13]]);
  Mix(&v[3], &v[4], &v[9], &v[14], m[s[14]], m[s[15]]);
}

template <size_t... round>
inline void AllRounds(uint64_t* v, const uint64_t* m, std::index_sequence<round...>) {
  (Round<round>(v, m), ...);
}

inline uint64_t LoadLittleEndian(const uint8_t* bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

Blake2b128::Blake2b128() : state_(kInitial) {
  // Parameters: sequential mode (fan-out and depth 1), no key, the length of the digest.
  state_[0] ^= 0x01010000 ^ sizeof(Digest);
}

void Blake2b128::Compress(const uint8_t* block, bool last) {
  uint64_t m[16];
  for (size_t i = 0; i < 16; ++i) m[i] = LoadLittleEndian(block + 8 * i);
  uint64_t v[16];
  for (size_t i = 0; i < 8; ++i) {
    v[i] = state_[i];
    v[i + 8] = kInitial[i];
  }
  v[12] ^= length_;
  if (last) v[14] = ~v[14];
  AllRounds(v, m, std::make_index_sequence<12>());
  for (size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
}

void Blake2b128::Update(const void* data, size_t size) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
  while (size > 0) {
    // A full block is compressed only when more follows: the last one is marked.
    if (pending_size_ == kBlock) {
      length_ += kBlock;
      Compress(pending_.data(), /*last=*/false);
      pending_size_ = 0;
    }
    if (pending_size_ == 0) {
      while (size > kBlock) {
        length_ += kBlock;
        Compress(at, /*last=*/false);
        at += kBlock;
        size -= kBlock;
      }
    }
    const size_t take = std::min(size, kBlock - pending_size_);
    std::memcpy(pending_.data() + pending_size_, at, take);
    pending_size_ += take;
    at += take;
    size -= take;
  }
}

Blake2b128::Digest Blake2b128::Finish() {
  length_ += pending_size_;
  std::memset(pending_.data() + pending_size_, 0, kBlock - pending_size_);
  Compress(pending_.data(), /*last=*/true);
  Digest digest;
  std::memcpy(digest.data(), state_.data(), digest.size());
  return digest;
}

}  // namespace nereid
