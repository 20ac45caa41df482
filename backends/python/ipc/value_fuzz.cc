// SPDX-License-Identifier: Apache-2.0
// Reads values as a damaged process might write them. For any bytes, the reader stops, stays inside
// them, and allocates no more than a few times their size.
#include <cstddef>
#include <cstdint>

#include "backends/python/ipc/value.h"

namespace {

using nereid_python::Tag;
using nereid_python::ValueReader;

// Reads the next value, of any kind. Returns how many values it contains.
size_t ReadAny(ValueReader* reader, int depth) {
  size_t values = 1;
  const auto read = [&](size_t count) {
    for (size_t i = 0; i < count && reader->ok() && depth < 64; ++i) {
      values += ReadAny(reader, depth + 1);
    }
  };
  switch (reader->Peek()) {
    case Tag::kNone:
      if (!reader->TakeNone()) reader->Fail();
      break;
    case Tag::kTrue:
    case Tag::kFalse:
      reader->Bool();
      break;
    case Tag::kInt:
      reader->Int();
      break;
    case Tag::kUint:
      reader->Uint();
      break;
    case Tag::kDouble:
      reader->Double();
      break;
    case Tag::kText:
      reader->Text();
      break;
    case Tag::kBytes:
      reader->Bytes();
      break;
    case Tag::kList:
      read(reader->List());
      break;
    case Tag::kMap:
      read(2 * reader->Map());
      break;
    case Tag::kTensor:
      reader->ReadTensor();
      break;
    default:
      reader->Fail();
  }
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ValueReader any(bytes);
  if (ReadAny(&any, 0) > size + 1) __builtin_trap();
  // Reads the same bytes in the form that the server expects.
  ValueReader response(bytes);
  response.List();
  if (!response.TakeNone()) {
    response.List();
    response.Int();
    response.Text();
  }
  const size_t outputs = response.List();
  for (size_t i = 0; i < outputs && response.ok(); ++i) {
    if (response.ReadTensor().dims.size() > size / 8) __builtin_trap();
  }
  return 0;
}
