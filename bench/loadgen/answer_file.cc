// SPDX-License-Identifier: Apache-2.0
#include "bench/loadgen/answer_file.h"

#include <absl/strings/str_cat.h>

#include <fstream>

namespace nereid::bench {

absl::Status AnswerFile::Clear() const {
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  // No float of a reference has these bytes.
  const std::string nothing(bytes_, '\xff');
  file.write(nothing.data(), static_cast<std::streamsize>(nothing.size()));
  file.flush();
  if (file.good()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("cannot write to ", path_));
}

absl::StatusOr<std::string> AnswerFile::Read() const {
  std::ifstream file(path_, std::ios::binary);
  std::string bytes(bytes_, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() == static_cast<std::streamsize>(bytes.size())) return bytes;
  return absl::NotFoundError(absl::StrCat("cannot read ", bytes_, " bytes of ", path_));
}

}  // namespace nereid::bench
