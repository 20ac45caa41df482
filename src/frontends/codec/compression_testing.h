// SPDX-License-Identifier: Apache-2.0
// Decompression into a string, for tests. Stateless.
#ifndef NEREID_FRONTENDS_CODEC_COMPRESSION_TESTING_H_
#define NEREID_FRONTENDS_CODEC_COMPRESSION_TESTING_H_

#include <string>

#include "base/status_macros.h"
#include "frontends/codec/compression.h"

namespace nereid {

inline absl::StatusOr<std::string> DecompressToString(ContentCoding coding,
                                                      absl::string_view compressed,
                                                      uint64_t max_size) {
  std::string plain;
  const auto make_room = [&plain](uint64_t, uint64_t wish) -> absl::StatusOr<absl::Span<char>> {
    plain.resize(wish);
    return absl::MakeSpan(plain);
  };
  ASSIGN_OR_RETURN(const uint64_t size, Decompress(coding, compressed, max_size, make_room));
  plain.resize(size);
  return plain;
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_COMPRESSION_TESTING_H_
