// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/classification.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "frontends/codec/binary_tensor.h"

namespace nereid {
namespace {

constexpr size_t kMaxElements = 1000000;

struct Items {
  size_t count = 1;
  size_t elements = 0;  // per item
  size_t best = 0;      // classes to report per item
};

// True if `a` ranks before `b`; NaN ranks last.
template <typename T>
bool Better(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a > b;
}

template <typename T>
void AppendBest(absl::string_view bytes, const Items& items, LabelFn label, std::string* tensor) {
  std::vector<T> scores(items.elements);
  std::vector<uint32_t> order(items.elements);
  for (size_t item = 0; item < items.count && items.best > 0; ++item) {
    const size_t item_bytes = items.elements * sizeof(T);
    std::memcpy(scores.data(), bytes.data() + item * item_bytes, item_bytes);
    std::iota(order.begin(), order.end(), 0);
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(items.best);
    std::partial_sort(order.begin(), last, order.end(), [&](uint32_t a, uint32_t b) {
      if (Better(scores[a], scores[b])) return true;
      if (Better(scores[b], scores[a])) return false;
      return a < b;
    });
    for (auto index = order.begin(); index != last; ++index) {
      std::string text = absl::StrCat(std::to_string(scores[*index]), ":", *index);
      if (const char* name = label(*index)) absl::StrAppend(&text, ":", name);
      AppendBytesElement(text, tensor);
    }
  }
}

// False for types whose elements are not numbers or have no order here.
bool AppendBestOf(DataType type, absl::string_view bytes, const Items& items, LabelFn label,
                  std::string* tensor) {
  const auto append = [&](auto tag) {
    AppendBest<decltype(tag)>(bytes, items, label, tensor);
    return true;
  };
  switch (type) {
    case DataType::kUint8:
      return append(uint8_t{});
    case DataType::kUint16:
      return append(uint16_t{});
    case DataType::kUint32:
      return append(uint32_t{});
    case DataType::kUint64:
      return append(uint64_t{});
    case DataType::kInt8:
      return append(int8_t{});
    case DataType::kInt16:
      return append(int16_t{});
    case DataType::kInt32:
      return append(int32_t{});
    case DataType::kInt64:
      return append(int64_t{});
    case DataType::kFp32:
      return append(float{});
    case DataType::kFp64:
      return append(double{});
    default:
      return false;
  }
}

absl::Status Unsupported(DataType type) {
  return absl::InvalidArgumentError(absl::StrCat(
      "class result not available for output due to unsupported type '", DataTypeName(type), "'"));
}

}  // namespace

absl::StatusOr<Classification> Classify(const ScoreTensor& scores, uint64_t class_count,
                                        LabelFn label) {
  const uint32_t element_size = DataTypeByteSize(scores.data_type);
  if (element_size == 0) return Unsupported(scores.data_type);
  const size_t elements = scores.bytes.size() / element_size;
  if (elements > kMaxElements) {
    return absl::InvalidArgumentError("classification output tensor too large");
  }
  const std::optional<int64_t> byte_size = TensorByteSize(scores.data_type, scores.shape);
  if (!byte_size || static_cast<uint64_t>(*byte_size) != scores.bytes.size() ||
      (scores.batched && scores.shape.empty())) {
    return absl::InternalError("classification output tensor shape does not match its size");
  }
  Classification result;
  Items items;
  if (scores.batched) {
    items.count = static_cast<size_t>(scores.shape[0]);
    result.shape.push_back(scores.shape[0]);
  }
  items.elements = items.count > 0 ? elements / items.count : 0;
  items.best = static_cast<size_t>(std::min<uint64_t>(class_count, items.elements));
  result.shape.push_back(static_cast<int64_t>(items.best));
  result.tensor.reserve(items.count * items.best * 24);
  if (!AppendBestOf(scores.data_type, scores.bytes, items, label, &result.tensor)) {
    return Unsupported(scores.data_type);
  }
  return result;
}

absl::StatusOr<Classification> ClassifyOutput(const InferResponse& response,
                                              const ResponseOutput& output, uint64_t class_count) {
  const ServingModel& model = *response.model();
  ScoreTensor scores;
  scores.data_type = output.data_type();
  scores.shape = output.shape();
  scores.bytes =
      absl::string_view(static_cast<const char*>(output.buffer().base), output.buffer().byte_size);
  scores.batched = model.config().max_batch_size > 0;
  return Classify(scores, class_count,
                  [&](size_t index) { return model.Label(output.name(), index); });
}

}  // namespace nereid
