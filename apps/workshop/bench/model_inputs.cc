// SPDX-License-Identifier: Apache-2.0
#include "bench/model_inputs.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/status_macros.h"
#include "bench/data_file.h"
#include "bench/tensor_file.h"

namespace nereid::bench {
namespace {

absl::Status Invalid(const std::string& text) { return absl::InvalidArgumentError(text); }

// Whether the first dimension of the model's tensors is that of the batch.
bool HasBatchDimension(const ModelDescription& model, const TensorDescription& tensor) {
  if (model.max_batch_size.has_value()) return *model.max_batch_size > 0;
  return !tensor.shape.empty() && tensor.shape[0] < 0;
}

template <typename T>
void AppendValue(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A number from 0 to 1 as a 16-bit float, cut off: BF16 is the upper half of an FP32, of FP16 the
// exponent is narrower.
uint16_t Half(DataType type, float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (type == DataType::kBf16) return static_cast<uint16_t>(bits >> 16);
  const auto exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + 15;
  if (exponent <= 0) return 0;
  return static_cast<uint16_t>(exponent << 10 | (bits >> 13 & 0x3ff));
}

void AppendElement(DataType type, const InputOptions& options, std::mt19937_64* random,
                   std::string* bytes) {
  const bool zeros = options.fill == FillKind::kZeros;
  const uint64_t draw = zeros ? 0 : (*random)();
  const double fraction = static_cast<double>(draw >> 11) * 0x1p-53;
  switch (type) {
    case DataType::kBytes: {
      AppendValue(static_cast<uint32_t>(options.string_length), bytes);
      for (size_t i = 0; i < options.string_length; ++i) {
        bytes->push_back(zeros ? '0' : static_cast<char>('a' + (*random)() % 26));
      }
      return;
    }
    case DataType::kBool:
      return AppendValue(static_cast<uint8_t>(draw & 1), bytes);
    case DataType::kFp32:
      return AppendValue(static_cast<float>(fraction), bytes);
    case DataType::kFp64:
      return AppendValue(fraction, bytes);
    case DataType::kFp16:
    case DataType::kBf16:
      return AppendValue(Half(type, static_cast<float>(fraction)), bytes);
    default: {
      // Whole numbers of every width, in little-endian order.
      const uint64_t whole = draw % 10;
      bytes->append(reinterpret_cast<const char*>(&whole), DataTypeByteSize(type));
    }
  }
}

std::string Repeated(const std::string& bytes, int64_t times) {
  std::string all;
  all.reserve(bytes.size() * static_cast<size_t>(times));
  for (int64_t i = 0; i < times; ++i) all += bytes;
  return all;
}

// The tensor of --input=NAME:FILE.
absl::StatusOr<RequestInput> FromFile(const ModelDescription& model,
                                      const TensorDescription& tensor, const std::string& file,
                                      const InputOptions& options,
                                      const std::vector<int64_t>& given, int64_t batch_size) {
  ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(file));
  std::vector<int64_t> of_file = given;
  if (IsNpy(bytes)) {
    absl::StatusOr<NpyArray> array = ParseNpy(bytes);
    if (!array.ok()) return Invalid(absl::StrCat(file, " ", array.status().message()));
    if (array->type != tensor.type) {
      return Invalid(absl::StrCat(file, " holds ", DataTypeName(array->type), "; the input ",
                                  tensor.name, " has the data type ", DataTypeName(tensor.type)));
    }
    of_file = array->shape;
    bytes = std::move(array->bytes);
  }
  ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOfInput(model, tensor, of_file, batch_size));
  ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(tensor, shape, options.string_length));
  if (tensor.type != DataType::kBytes) {
    const size_t wanted = static_cast<size_t>(elements) * DataTypeByteSize(tensor.type);
    // One element of the batch stands for all of them.
    if (batch_size > 1 && bytes.size() * static_cast<size_t>(batch_size) == wanted) {
      bytes = Repeated(bytes, batch_size);
    }
    if (bytes.size() != wanted) {
      return Invalid(absl::StrCat(file, " has ", bytes.size(), " bytes for the input ", tensor.name,
                                  " of shape ", ShapeText(shape), "; it has to have ", wanted));
    }
  }
  return RequestInput{tensor.name, tensor.type, std::move(shape), std::move(bytes)};
}

absl::StatusOr<RequestInput> FromEntry(const ModelDescription& model,
                                       const TensorDescription& tensor, const DataTensor& entry,
                                       const InputOptions& options,
                                       const std::vector<int64_t>& given, int64_t batch_size) {
  ASSIGN_OR_RETURN(
      std::vector<int64_t> shape,
      ShapeOfInput(model, tensor, entry.shape.empty() ? given : entry.shape, batch_size));
  ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(tensor, shape, options.string_length));
  const bool repeats = batch_size > 1 && entry.count * batch_size == elements;
  if (entry.count >= 0 && entry.count != elements && !repeats) {
    return Invalid(absl::StrCat(options.data_file, " has ", entry.count, " values for the input ",
                                tensor.name, " of shape ", ShapeText(shape), "; it has to have ",
                                elements));
  }
  return RequestInput{tensor.name, tensor.type, std::move(shape),
                      repeats ? Repeated(entry.bytes, batch_size) : entry.bytes};
}

// The inputs of one request. `entry`: of the data file; null: there is none.
absl::StatusOr<RequestInputs> MakeRequest(const ModelDescription& model,
                                          const InputOptions& options, const DataEntry* entry,
                                          std::mt19937_64* random) {
  const int64_t batch_size = std::max<int64_t>(options.batch_size, 1);
  RequestInputs inputs;
  for (const TensorDescription& tensor : model.inputs) {
    const auto shape = options.shapes.find(tensor.name);
    const std::vector<int64_t> given =
        shape == options.shapes.end() ? std::vector<int64_t>() : shape->second;
    const auto file = options.files.find(tensor.name);
    if (file != options.files.end()) {
      ASSIGN_OR_RETURN(inputs.emplace_back(),
                       FromFile(model, tensor, file->second, options, given, batch_size));
      continue;
    }
    if (entry != nullptr) {
      const auto found = entry->find(tensor.name);
      if (found != entry->end()) {
        ASSIGN_OR_RETURN(inputs.emplace_back(),
                         FromEntry(model, tensor, found->second, options, given, batch_size));
        continue;
      }
      if (!tensor.optional) {
        return Invalid(
            absl::StrCat(options.data_file, " has no values for the input ", tensor.name));
      }
    }
    if (tensor.optional && given.empty()) continue;
    ASSIGN_OR_RETURN(std::vector<int64_t> whole, ShapeOfInput(model, tensor, given, batch_size));
    ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(tensor, whole, options.string_length));
    inputs.push_back({tensor.name, tensor.type, std::move(whole),
                      FilledTensor(tensor.type, elements, options, random)});
  }
  return inputs;
}

absl::Status CheckNames(const ModelDescription& model, const InputOptions& options) {
  std::vector<std::string> names;
  for (const TensorDescription& tensor : model.inputs) names.push_back(tensor.name);
  const auto check = [&](const char* option, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return absl::OkStatus();
    return Invalid(absl::StrCat(option, " names the input '", name, "'; the model ", model.name,
                                " has ", absl::StrJoin(names, ", ")));
  };
  for (const auto& [name, file] : options.files) RETURN_IF_ERROR(check("--input", name));
  for (const auto& [name, shape] : options.shapes) RETURN_IF_ERROR(check("--shape", name));
  return absl::OkStatus();
}

absl::Status CheckBatchSize(const ModelDescription& model, const InputOptions& options) {
  if (options.batch_size <= 1 || !model.max_batch_size.has_value()) return absl::OkStatus();
  if (*model.max_batch_size == 0) {
    return Invalid(absl::StrCat("--batch-size is ", options.batch_size, "; the model ", model.name,
                                " has no batch dimension"));
  }
  if (options.batch_size > *model.max_batch_size) {
    return Invalid(absl::StrCat("--batch-size is ", options.batch_size, "; the model ", model.name,
                                " takes at most ", *model.max_batch_size));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

absl::StatusOr<std::vector<int64_t>> ShapeOfInput(const ModelDescription& model,
                                                  const TensorDescription& tensor,
                                                  const std::vector<int64_t>& given,
                                                  int64_t batch_size) {
  const bool batched = HasBatchDimension(model, tensor);
  std::vector<int64_t> shape = tensor.shape;
  if (!given.empty()) {
    shape = given;
    if (batched && given.size() + 1 == tensor.shape.size()) {
      shape.insert(shape.begin(), batch_size);
    } else if (given.size() != tensor.shape.size()) {
      return Invalid(absl::StrCat("the shape ", ShapeText(given), " for the input ", tensor.name,
                                  " has ", given.size(), " dimensions; the model's is ",
                                  ShapeText(tensor.shape)));
    }
  } else if (batched) {
    shape[0] = batch_size;
  }
  if (std::none_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; })) return shape;
  return Invalid(absl::StrCat("the input ", tensor.name, " has the shape ", ShapeText(tensor.shape),
                              ", where -1 may be any size; give it: --shape=", tensor.name,
                              ":DIM,DIM,..."));
}

absl::StatusOr<int64_t> ElementsOf(const TensorDescription& tensor,
                                   const std::vector<int64_t>& shape, size_t string_length) {
  const size_t bytes = tensor.type == DataType::kBytes ? string_length + sizeof(uint32_t)
                                                       : DataTypeByteSize(tensor.type);
  size_t elements = 1;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(elements, static_cast<size_t>(dim), &elements) ||
        elements > kMostTensorBytes / std::max<size_t>(bytes, 1)) {
      return Invalid(absl::StrCat("the input ", tensor.name, " of shape ", ShapeText(shape),
                                  " is larger than ", kMostTensorBytes, " bytes"));
    }
  }
  return static_cast<int64_t>(elements);
}

std::string FilledTensor(DataType type, int64_t count, const InputOptions& options,
                         std::mt19937_64* random) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) AppendElement(type, options, random, &bytes);
  return bytes;
}

absl::StatusOr<std::vector<RequestInputs>> MakeInputs(const ModelDescription& model,
                                                      const InputOptions& options) {
  RETURN_IF_ERROR(CheckNames(model, options));
  RETURN_IF_ERROR(CheckBatchSize(model, options));
  for (const TensorDescription& tensor : model.inputs) {
    if (tensor.type == DataType::kInvalid) {
      return Invalid(absl::StrCat("the input ", tensor.name, " has a data type that is not known"));
    }
  }
  std::mt19937_64 random(options.seed);
  std::vector<RequestInputs> requests;
  if (options.data_file.empty()) {
    ASSIGN_OR_RETURN(requests.emplace_back(), MakeRequest(model, options, nullptr, &random));
    return requests;
  }
  ASSIGN_OR_RETURN(const std::vector<DataEntry> entries, ReadDataFile(options.data_file, model));
  for (const DataEntry& entry : entries) {
    ASSIGN_OR_RETURN(requests.emplace_back(), MakeRequest(model, options, &entry, &random));
  }
  return requests;
}

}  // namespace nereid::bench
