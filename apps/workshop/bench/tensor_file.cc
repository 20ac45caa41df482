// SPDX-License-Identifier: Apache-2.0
#include "bench/tensor_file.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <fstream>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = sizeof kMagic - 1;
constexpr size_t kMostArrivals = 10'000'000;
constexpr double kMostSeconds = 24 * 3600;

struct NpyType {
  absl::string_view descr;
  DataType type;
};
constexpr NpyType kNpyTypes[] = {
    {"|b1", DataType::kBool},   {"|u1", DataType::kUint8},  {"<u2", DataType::kUint16},
    {"<u4", DataType::kUint32}, {"<u8", DataType::kUint64}, {"|i1", DataType::kInt8},
    {"<i2", DataType::kInt16},  {"<i4", DataType::kInt32},  {"<i8", DataType::kInt64},
    {"<f2", DataType::kFp16},   {"<f4", DataType::kFp32},   {"<f8", DataType::kFp64},
};

absl::Status BadNpy(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("is not an array that can be sent: ", why));
}

// What stands behind 'key': in the header, which is a Python dictionary.
absl::string_view ValueOf(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return "";
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

// The array's dictionary, and where its bytes begin.
absl::StatusOr<absl::string_view> TakeHeader(absl::string_view* file) {
  const auto byte = [&](size_t at) { return size_t{static_cast<unsigned char>((*file)[at])}; };
  if (!IsNpy(*file) || file->size() < kMagicBytes + 6) return BadNpy("the file is cut off");
  const bool wide = byte(kMagicBytes) > 1;  // versions 2 and 3 have a length of four bytes
  size_t length = byte(kMagicBytes + 2) | byte(kMagicBytes + 3) << 8;
  if (wide) length |= byte(kMagicBytes + 4) << 16 | byte(kMagicBytes + 5) << 24;
  file->remove_prefix(kMagicBytes + (wide ? 6 : 4));
  if (length > file->size()) return BadNpy("the file is cut off");
  const absl::string_view header = file->substr(0, length);
  file->remove_prefix(length);
  return header;
}

// "(1, 3,)"
bool ParseShape(absl::string_view text, std::vector<int64_t>* shape) {
  const size_t end = text.find(')');
  if (!absl::ConsumePrefix(&text, "(") || end == absl::string_view::npos) return false;
  for (absl::string_view dim : absl::StrSplit(text.substr(0, end - 1), ',')) {
    dim = absl::StripAsciiWhitespace(dim);
    int64_t value = 0;
    if (dim.empty()) continue;
    if (!absl::SimpleAtoi(dim, &value) || value < 0) return false;
    shape->push_back(value);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& name, size_t most) {
  std::ifstream file(name, std::ios::binary | std::ios::ate);
  const auto size = file.tellg();
  if (!file || size < 0) return absl::NotFoundError(absl::StrCat("cannot read the file ", name));
  if (static_cast<size_t>(size) > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the file ", name, " has ", static_cast<size_t>(size), " bytes; the most is ", most));
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  file.seekg(0);
  file.read(bytes.data(), size);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read the file ", name));
  return bytes;
}

bool IsNpy(absl::string_view file) {
  return absl::StartsWith(file, absl::string_view(kMagic, kMagicBytes));
}

absl::StatusOr<NpyArray> ParseNpy(absl::string_view file) {
  ASSIGN_OR_RETURN(const absl::string_view header, TakeHeader(&file));
  NpyArray array;
  const absl::string_view descr = ValueOf(header, "descr");
  for (const NpyType& known : kNpyTypes) {
    if (descr.substr(0, 5) == absl::StrCat("'", known.descr, "'")) array.type = known.type;
  }
  if (array.type == DataType::kInvalid) {
    return BadNpy(absl::StrCat("its data type is ", descr.substr(0, descr.find(',')),
                               "; numbers and truth values in little-endian order can be read"));
  }
  if (!absl::StartsWith(ValueOf(header, "fortran_order"), "False")) {
    return BadNpy("it is in Fortran's order; save numpy.ascontiguousarray of it");
  }
  if (!ParseShape(ValueOf(header, "shape"), &array.shape)) return BadNpy("it has no shape");
  array.bytes = std::string(file);
  return array;
}

absl::StatusOr<std::vector<std::chrono::nanoseconds>> ParseTrace(absl::string_view text) {
  std::vector<std::chrono::nanoseconds> times;
  size_t number = 0;
  double last = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    double seconds = 0;
    if (!absl::SimpleAtod(line, &seconds) || !(seconds >= last && seconds <= kMostSeconds)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", number, " of the trace is '", line.substr(0, 40),
          "'; it has to be a number of seconds, not below the one before, at most ", kMostSeconds));
    }
    if (times.size() == kMostArrivals) {
      return absl::InvalidArgumentError(
          absl::StrCat("the trace has more than ", kMostArrivals, " arrivals"));
    }
    last = seconds;
    times.emplace_back(static_cast<int64_t>(seconds * 1e9));
  }
  if (!times.empty()) return times;
  return absl::InvalidArgumentError("the trace has no arrivals");
}

}  // namespace nereid::bench
