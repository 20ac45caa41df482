// SPDX-License-Identifier: Apache-2.0
#include "execution/warmup_data.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include "base/status_macros.h"

namespace nereid {
namespace {

// The prefix of every error about a request without an id.
constexpr char kLogPrefix[] = "[request id: <id_unknown>] ";

// The size of the whole tensor in bytes; for BYTES, of a tensor of empty strings.
absl::StatusOr<uint64_t> ByteSize(const WarmupInput& input) {
  if (std::any_of(input.dims.begin(), input.dims.end(), [](int64_t dim) { return dim < 0; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("warmup setting expects all variable-size dimensions are specified for input "
                     "'",
                     input.name, "'"));
  }
  const DataType type = input.data_type == DataType::kBytes ? DataType::kUint32 : input.data_type;
  const std::optional<int64_t> size = TensorByteSize(type, input.dims);
  if (!size.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("byte size for tensor '", input.name,
                                                   "' exceeds maximum size of "
                                                   "9223372036854775807"));
  }
  if (*size > kMaxWarmupBytes) {
    return absl::InvalidArgumentError(absl::StrCat("warmup input '", input.name, "' has ", *size,
                                                   " bytes, more than the ", kMaxWarmupBytes,
                                                   " that an input of a warm-up may have"));
  }
  return static_cast<uint64_t>(*size);
}

template <typename T, typename Make>
void Fill(std::string* bytes, const Make& make) {
  for (size_t at = 0; at + sizeof(T) <= bytes->size(); at += sizeof(T)) {
    const T value = make();
    std::memcpy(bytes->data() + at, &value, sizeof(T));
  }
}

void FillRandom(DataType type, std::string* bytes) {
  std::mt19937_64 random(1);
  switch (type) {
    case DataType::kBytes:
      return;
    case DataType::kBool:
      return Fill<uint8_t>(bytes, [&] { return static_cast<uint8_t>(random() & 1); });
    case DataType::kFp32:
      return Fill<float>(bytes,
                         [&] { return std::ldexp(static_cast<float>(random() >> 40), -24); });
    case DataType::kFp64:
      return Fill<double>(bytes,
                          [&] { return std::ldexp(static_cast<double>(random() >> 11), -53); });
    case DataType::kFp16:  // the exponent of [0.5, 1)
      return Fill<uint16_t>(bytes,
                            [&] { return static_cast<uint16_t>(0x3800 | (random() & 0x3ff)); });
    case DataType::kBf16:
      return Fill<uint16_t>(bytes,
                            [&] { return static_cast<uint16_t>(0x3f00 | (random() & 0x7f)); });
    default:
      return Fill<uint8_t>(bytes, [&] { return static_cast<uint8_t>(random()); });
  }
}

// The path of a file in the model's folder `warmup`. INVALID_ARGUMENT if it lies elsewhere.
absl::StatusOr<std::string> FilePath(const WarmupInput& input, const std::string& model_dir) {
  const std::optional<std::string> relative = PathInside(input.file);
  if (!relative.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("warmup data file '", input.file, "' of input '",
                                                   input.name,
                                                   "' is outside the model's folder 'warmup'"));
  }
  return JoinPath(JoinPath(model_dir, "warmup"), *relative);
}

}  // namespace

absl::StatusOr<std::string> WarmupBytes(const WarmupInput& input, const FileSystem& fs,
                                        const std::string& model_dir) {
  if (input.data_type == DataType::kInvalid) {
    return absl::InvalidArgumentError(absl::StrCat(kLogPrefix, "warmup setting expects input '",
                                                   input.name, "' to have data_type set"));
  }
  ASSIGN_OR_RETURN(const uint64_t size, ByteSize(input));
  if (input.data == WarmupData::kNone) {
    return absl::InvalidArgumentError(absl::StrCat(kLogPrefix, "warmup setting expects input '",
                                                   input.name, "' to have input_data_type set"));
  }
  if (input.data != WarmupData::kFile) {
    std::string bytes(size, '\0');
    if (input.data == WarmupData::kRandom) FillRandom(input.data_type, &bytes);
    return bytes;
  }
  ASSIGN_OR_RETURN(const std::string path, FilePath(input, model_dir));
  ASSIGN_OR_RETURN(std::string bytes, fs.ReadFile(path));
  // The content of a file of strings is checked with the request.
  if (input.data_type == DataType::kBytes) return bytes;
  if (bytes.size() < size) {
    return absl::InvalidArgumentError(absl::StrCat(
        kLogPrefix, "warmup setting expects ", size, " bytes, but the data provided from ",
        input.file, "only has ", bytes.size(), " bytes"));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace nereid
