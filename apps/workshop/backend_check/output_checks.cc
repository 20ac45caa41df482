// SPDX-License-Identifier: Apache-2.0
#include "backend_check/output_checks.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstring>

#include "backend_check/guarded_allocator.h"

namespace nereid {
namespace {

std::string ShapeText(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

// Whether `bytes` are `count` elements, each a length of 4 bytes and so many bytes.
bool AreElements(const char* bytes, size_t size, int64_t count) {
  size_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t length = 0;
    if (size - at < sizeof(length)) return false;
    std::memcpy(&length, bytes + at, sizeof(length));
    at += sizeof(length);
    if (size - at < length) return false;
    at += length;
  }
  return at == size;
}

bool SizeFits(const ResponseOutput& output) {
  int64_t elements = 1;
  for (const int64_t dim : output.shape()) elements *= dim;
  const OutputBuffer& buffer = output.buffer();
  if (output.data_type() == DataType::kBytes) {
    return AreElements(static_cast<const char*>(buffer.base), buffer.byte_size, elements);
  }
  return static_cast<int64_t>(buffer.byte_size) == elements * DataTypeByteSize(output.data_type());
}

bool ShapeFits(const Shape& shape, const Shape& dims, bool batching, int64_t batch_size) {
  const size_t first = batching ? 1 : 0;
  if (shape.size() != dims.size() + first) return false;
  if (batching && batch_size > 0 && shape[0] != batch_size) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0 && shape[first + i] != dims[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<std::pair<const char*, std::string>> CheckOutput(const CompiledModel& model,
                                                             const ResponseOutput& output,
                                                             int64_t batch_size) {
  std::vector<std::pair<const char*, std::string>> found;
  const std::string name = absl::StrCat("output '", output.name(), "'");
  const int index = model.FindOutput(output.name());
  if (index < 0) return found;  // the server refuses such outputs
  const OutputSpec& spec = model.outputs[static_cast<size_t>(index)];
  if (output.data_type() != spec.data_type) {
    found.emplace_back("output-type",
                       absl::StrCat(name, " is ", DataTypeName(output.data_type()),
                                    " and configured as ", DataTypeName(spec.data_type)));
  }
  const bool batching = model.max_batch_size > 0;
  if (!ShapeFits(output.shape(), spec.dims, batching, batch_size)) {
    std::string allowed = ShapeText(spec.dims);
    if (batching) absl::StrAppend(&allowed, " for each of ", batch_size, " rows");
    found.emplace_back("output-shape",
                       absl::StrCat(name, " has the shape ", ShapeText(output.shape()),
                                    " and is configured as ", allowed));
  }
  if (!output.allocated()) {
    found.emplace_back("output-without-buffer", name);
    return found;
  }
  if (!SizeFits(output)) {
    found.emplace_back("output-size", absl::StrCat(name, " of ", DataTypeName(output.data_type()),
                                                   " ", ShapeText(output.shape()), " has ",
                                                   output.buffer().byte_size, " bytes"));
  }
  if (GuardedAllocator::Unwritten(output.buffer())) {
    found.emplace_back("output-unwritten",
                       absl::StrCat(name, ", ", output.buffer().byte_size, " bytes"));
  }
  if (GuardedAllocator::Overrun(output.buffer())) {
    found.emplace_back("output-overrun", absl::StrCat(name, " has ", output.buffer().byte_size,
                                                      " bytes, and more were written"));
  }
  return found;
}

}  // namespace nereid
