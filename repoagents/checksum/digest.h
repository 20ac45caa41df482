// SPDX-License-Identifier: Apache-2.0
// Checksums of files. Pure except for reading the files; thread-safe.
#ifndef NEREID_REPOAGENTS_CHECKSUM_DIGEST_H_
#define NEREID_REPOAGENTS_CHECKSUM_DIGEST_H_

#include <string>
#include <string_view>

#include "backends/sdk/error.h"

namespace nereid_checksum {

// The content of a parameter "<kind>:<path>" = "<sum>".
struct Expected {
  std::string kind;  // "MD5" or "SHA256"
  std::string path;  // relative to the model's directory
  std::string sum;   // in hexadecimal, lower case
};

// INVALID_ARG for another kind, a path that leads out of the model's directory, or a sum of another
// length.
nereid_backend::Result<Expected> ReadParameter(std::string_view name, std::string_view value);

// The sum of a file in hexadecimal, lower case. `kind` as above. NOT_FOUND if it cannot be read.
nereid_backend::Result<std::string> SumOfFile(const std::string& kind, const std::string& path);

// INVALID_ARG "Mismatched <kind> hash for file <path>" unless the file in `directory` has the sum.
nereid_backend::Error Check(const std::string& directory, const Expected& expected);

}  // namespace nereid_checksum

#endif  // NEREID_REPOAGENTS_CHECKSUM_DIGEST_H_
