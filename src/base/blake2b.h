// SPDX-License-Identifier: Apache-2.0
// Blake2b128: the BLAKE2b hash (RFC 7693) without a key, 16 bytes long. Finding two inputs with the
// same hash, or a second input for a given hash, is infeasible, so hashed data may come from
// strangers. A value type: a copy continues independently from the state of the original.
// Thread-compatible.
#ifndef NEREID_BASE_BLAKE2B_H_
#define NEREID_BASE_BLAKE2B_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace nereid {

class Blake2b128 {
 public:
  using Digest = std::array<uint8_t, 16>;

  Blake2b128();
  void Update(const void* data, size_t size);
  // REQUIRES: called last, once.
  Digest Finish();

 private:
  static constexpr size_t kBlock = 128;
  void Compress(const uint8_t* block, bool last);

  std::array<uint64_t, 8> state_;
  uint64_t length_ = 0;  // bytes compressed so far
  std::array<uint8_t, kBlock> pending_;
  size_t pending_size_ = 0;
};

}  // namespace nereid

#endif  // NEREID_BASE_BLAKE2B_H_
