// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_fast_reader.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "frontends/codec/fast_json_reader.h"
#include "frontends/tfs/tfs_tensor_reader.h"
#include "model/data_type.h"

namespace nereid {
namespace {

namespace ondemand = simdjson::ondemand;

// Deeper lists are rare.
constexpr size_t kMostDimensions = 16;

template <typename T>
bool ReadNumber(ondemand::value& value, T* out) {
  if constexpr (std::is_same_v<T, bool>) {
    return !value.get_bool().get(*out);
  } else if constexpr (std::is_floating_point_v<T>) {
    double number;
    if (!ReadDoubleFast(value, &number)) return false;
    *out = static_cast<T>(number);
    // -0 without a point is an integer to the careful reader.
    return std::isfinite(*out) && !(number == 0 && std::signbit(number));
  } else {
    std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t> number;
    if (value.get(number)) return false;
    *out = static_cast<T>(number);
    return *out == number;
  }
}

// Reads one tensor. The lengths of the first lists are the shape, to which all others are held; the
// memory is taken when the first number is reached, and the shape is known.
template <typename T>
class TensorOf {
 public:
  TensorOf(const TensorBounds& bounds, RequestBuffers* buffers, TfsFastTensor* tensor)
      : bounds_(bounds), buffers_(buffers), tensor_(tensor) {}

  bool ReadAll(ondemand::array list) { return ReadList(list, 0) && at_ == end_; }

 private:
  bool ReadList(ondemand::array list, size_t depth) {
    Shape& shape = tensor_->shape;
    if (tensor_->bytes == nullptr) {
      size_t count = 0;
      if (depth >= kMostDimensions || list.count_elements().get(count) || count == 0) return false;
      shape.push_back(static_cast<int64_t>(count));
    } else if (depth >= shape.size()) {
      return false;
    }
    int64_t count = 0;
    for (auto item : list) {
      ondemand::value value;
      if (std::move(item).get(value) || ++count > shape[depth]) return false;
      if (!ReadItem(value, depth + 1)) return false;
    }
    return count == shape[depth];
  }

  bool ReadItem(ondemand::value value, size_t depth) {
    if (tensor_->bytes != nullptr && depth == tensor_->shape.size()) return ReadElement(value);
    ondemand::json_type type;
    if (value.type().get(type)) return false;
    if (type == ondemand::json_type::array) {
      ondemand::array list;
      return !value.get_array().get(list) && ReadList(list, depth);
    }
    return tensor_->bytes == nullptr && Allocate() && ReadElement(value);
  }

  bool ReadElement(ondemand::value value) {
    T element;
    if (at_ == end_ || !ReadNumber(value, &element)) return false;
    std::memcpy(at_, &element, sizeof(element));
    at_ += sizeof(element);
    return true;
  }

  bool Allocate() {
    const std::optional<int64_t> count = ElementCount(tensor_->shape);
    if (!count.has_value() || static_cast<uint64_t>(*count) > bounds_.max_elements ||
        static_cast<uint64_t>(*count) > bounds_.max_bytes / sizeof(T)) {
      return false;
    }
    tensor_->size = static_cast<size_t>(*count) * sizeof(T);
    at_ = buffers_->Allocate(tensor_->size);
    tensor_->bytes = at_;
    end_ = at_ + tensor_->size;
    return at_ != nullptr;
  }

  const TensorBounds bounds_;
  RequestBuffers* const buffers_;
  TfsFastTensor* const tensor_;
  char* at_ = nullptr;  // the place of the next element
  char* end_ = nullptr;
};

bool ReadTensorOf(DataType type, ondemand::array list, const TensorBounds& bounds,
                  RequestBuffers* buffers, TfsFastTensor* tensor) {
  const auto read = [&](auto element) {
    return TensorOf<decltype(element)>(bounds, buffers, tensor).ReadAll(list);
  };
  return ReadAsElement(type, read, [] { return false; });
}

// Reads one body. Every method returns false to leave it to the careful reader.
class FastBody {
 public:
  FastBody(const TensorBounds& bounds, const CompiledModel& model, RequestBuffers* buffers,
           TfsCall* call, TfsFastTensor* tensor)
      : bounds_(bounds), model_(model), buffers_(buffers), call_(call), tensor_(tensor) {}

  bool ReadRoot(ondemand::object root) {
    for (auto item : root) {
      ondemand::field field;
      std::string_view key;
      if (std::move(item).get(field) || field.unescaped_key().get(key)) return false;
      if (!ReadMember(key, field.value())) return false;
    }
    return call_->signature != nullptr;
  }

 private:
  bool ReadMember(std::string_view key, ondemand::value value) {
    // What is needed for a tensor has to stand before it, and nothing twice.
    if (call_->signature != nullptr) return false;
    if (key == "signature_name") {
      return signature_name_.empty() && ReadStringFast(value, &signature_name_) &&
             !signature_name_.empty();
    }
    call_->rows = key == "instances";
    if (!call_->rows && key != "inputs") return false;
    const auto found = model_.tfs.signatures.find(signature_name_.empty() ? kTfsDefaultSignature
                                                                          : signature_name_);
    if (found == model_.tfs.signatures.end() || found->second.inputs.size() != 1) return false;
    call_->signature = &found->second;
    return ReadValue(value);
  }

  bool ReadValue(ondemand::value value) {
    ondemand::json_type type;
    if (value.type().get(type)) return false;
    if (call_->rows || type == ondemand::json_type::array) return ReadLists(value);
    ondemand::object named;
    if (value.get_object().get(named)) return false;
    bool read = false;
    for (auto item : named) {
      ondemand::field field;
      std::string_view key;
      if (read || std::move(item).get(field) || field.unescaped_key().get(key)) return false;
      if (key != std::string_view(call_->signature->inputs.front().key)) return false;
      if (!ReadLists(field.value())) return false;
      read = true;
    }
    return read;
  }

  bool ReadLists(ondemand::value value) {
    const DataType type = model_.inputs[call_->signature->inputs.front().index].data_type;
    ondemand::array list;
    return !value.get_array().get(list) && ReadTensorOf(type, list, bounds_, buffers_, tensor_);
  }

  const TensorBounds bounds_;
  const CompiledModel& model_;
  RequestBuffers* const buffers_;
  TfsCall* const call_;
  TfsFastTensor* const tensor_;
  std::string signature_name_;
};

}  // namespace

bool ReadTfsFast(absl::string_view json, const RequestLimits& limits, const CompiledModel& model,
                 RequestBuffers* buffers, TfsCall* call, TfsFastTensor* tensor) {
  const TensorBounds bounds = BoundsFor(json, limits);
  return !json.empty() && ReadObjectFast(json, [&](ondemand::object root) {
    return FastBody(bounds, model, buffers, call, tensor).ReadRoot(root);
  });
}

}  // namespace nereid
