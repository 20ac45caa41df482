// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/batch_input.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/sdk/tensor.h"

namespace nereid_backend {
namespace {

constexpr size_t kElementSize = 4;
static_assert(sizeof(int32_t) == kElementSize && sizeof(float) == kElementSize);

struct KindName {
  const char* name;
  BatchInputKind kind;
};
constexpr KindName kKinds[] = {
    {"BATCH_ELEMENT_COUNT", BatchInputKind::kElementCount},
    {"BATCH_ACCUMULATED_ELEMENT_COUNT", BatchInputKind::kAccumulatedElementCount},
    {"BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", BatchInputKind::kAccumulatedElementCountWithZero},
    {"BATCH_MAX_ELEMENT_COUNT_AS_SHAPE", BatchInputKind::kMaxElementCountAsShape},
    {"BATCH_ITEM_SHAPE", BatchInputKind::kItemShape},
    {"BATCH_ITEM_SHAPE_FLATTEN", BatchInputKind::kItemShapeFlatten},
};

Result<BatchInputKind> ReadKind(const ModelConfig& config, const std::string& name) {
  for (const KindName& known : kKinds) {
    if (name == known.name) return known.kind;
  }
  return Error::InvalidArg(StrCat("unknown batch input kind '", name, "' for ", config.name));
}

int64_t CountOf(const ShapeView& shape) { return ElementCount(shape.dims, shape.dim_count); }

int64_t MaxCount(const std::vector<ShapeView>& sources) {
  int64_t most = 0;
  for (const ShapeView& source : sources) most = std::max(most, CountOf(source));
  return most;
}

Error WriteInts(const std::vector<int64_t>& values, char* destination) {
  for (const int64_t value : values) {
    if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
      return Error::InvalidArg(StrCat("a batch input has the number ", value,
                                      ", which is too large for its type INT32"));
    }
    const int32_t number = static_cast<int32_t>(value);
    std::memcpy(destination, &number, kElementSize);
    destination += kElementSize;
  }
  return Error();
}

void WriteFloats(const std::vector<int64_t>& values, char* destination) {
  for (const int64_t value : values) {
    const float number = static_cast<float>(value);
    std::memcpy(destination, &number, kElementSize);
    destination += kElementSize;
  }
}

}  // namespace

Result<std::vector<BatchInput>> BatchInput::ReadAll(const ModelConfig& config) {
  std::vector<BatchInput> all;
  for (const Json& json : config.json["batch_input"].items()) {
    BatchInput input;
    NB_ASSIGN_OR_RETURN(input.kind_,
                        ReadKind(config, json["kind"].AsString("BATCH_ELEMENT_COUNT")));
    input.type_ = ConfigTypeFromName(json["data_type"].AsString());
    if (input.type_ != TRITONSERVER_TYPE_INT32 && input.type_ != TRITONSERVER_TYPE_FP32) {
      return Error::InvalidArg(
          StrCat("batch input data type must be TYPE_INT32 or TYPE_FP32 for ", config.name));
    }
    const Json::Array& sources = json["source_input"].items();
    const TensorConfig* const source =
        sources.size() == 1 ? config.FindInput(sources[0].AsString()) : nullptr;
    if (source == nullptr) {
      return Error::InvalidArg(
          StrCat("a batch input needs one source, which is an input, for ", config.name));
    }
    input.source_ = source->name;
    input.row_rank_ = source->model_dims().size();
    for (const Json& target : json["target_name"].items()) {
      input.targets_.push_back(target.AsString());
    }
    input.batching_ = config.batching();
    all.push_back(std::move(input));
  }
  return all;
}

Shape BatchInput::OpenShape() const {
  if (kind_ != BatchInputKind::kItemShape) return {-1};
  return {-1, static_cast<int64_t>(row_rank_)};
}

size_t BatchInput::RowsOf(const ShapeView& source) const {
  return batching_ && source.dim_count > 0 ? static_cast<size_t>(source.dims[0]) : 1;
}

Shape BatchInput::ShapeFor(const std::vector<ShapeView>& sources) const {
  const int64_t requests = static_cast<int64_t>(sources.size());
  size_t rows = 0;
  for (const ShapeView& source : sources) rows += RowsOf(source);
  switch (kind_) {
    case BatchInputKind::kElementCount:
    case BatchInputKind::kAccumulatedElementCount:
      return {requests};
    case BatchInputKind::kAccumulatedElementCountWithZero:
      return {requests + 1};
    case BatchInputKind::kMaxElementCountAsShape:
      return {MaxCount(sources)};
    case BatchInputKind::kItemShape:
      return {static_cast<int64_t>(rows), static_cast<int64_t>(row_rank_)};
    case BatchInputKind::kItemShapeFlatten:
      return {static_cast<int64_t>(rows * row_rank_)};
  }
  return {};
}

std::vector<int64_t> BatchInput::Values(const std::vector<ShapeView>& sources) const {
  std::vector<int64_t> values;
  int64_t sum = 0;
  if (kind_ == BatchInputKind::kAccumulatedElementCountWithZero) values.push_back(0);
  for (const ShapeView& source : sources) {
    switch (kind_) {
      case BatchInputKind::kElementCount:
        values.push_back(CountOf(source));
        break;
      case BatchInputKind::kAccumulatedElementCount:
      case BatchInputKind::kAccumulatedElementCountWithZero:
        values.push_back(sum += CountOf(source));
        break;
      case BatchInputKind::kMaxElementCountAsShape:
        break;  // its values are all zero; see Fill
      case BatchInputKind::kItemShape:
      case BatchInputKind::kItemShapeFlatten:
        for (size_t row = 0; row < RowsOf(source); ++row) {
          values.insert(values.end(), source.dims + (batching_ ? 1 : 0),
                        source.dims + source.dim_count);
        }
        break;
    }
  }
  return values;
}

Error BatchInput::Fill(const std::vector<ShapeView>& sources, char* destination) const {
  if (kind_ == BatchInputKind::kMaxElementCountAsShape) {
    // The shape is the information, but a model may also read the values; it must not see what
    // other requests left in memory.
    std::memset(destination, 0, static_cast<size_t>(MaxCount(sources)) * kElementSize);
    return Error();
  }
  if (type_ == TRITONSERVER_TYPE_INT32) return WriteInts(Values(sources), destination);
  WriteFloats(Values(sources), destination);
  return Error();
}

}  // namespace nereid_backend
