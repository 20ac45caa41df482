// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/fast_tensor.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "frontends/codec/tensor_grammar.h"

namespace nereid {

namespace ondemand = simdjson::ondemand;

bool ReadDoubleFast(ondemand::value& value, double* out) {
  // simdjson 3.0.1 gets some fractions of more than 19 digits wrong by orders of magnitude. Longer
  // texts are therefore converted by the standard library.
  constexpr size_t kTrustedLength = 19;
  const std::string_view token = value.raw_json_token();
  if (value.get_double().get(*out)) return false;
  if (token.size() <= kTrustedLength) return true;
  return std::from_chars(token.data(), token.data() + token.size(), *out).ec == std::errc();
}

namespace {

// The cursor of the grammar on simdjson's on-demand values.
class FastCursor {
 public:
  explicit FastCursor(ondemand::value value) : value_(value) {}

  bool Get(bool* out) { return !value_.get_bool().get(*out); }
  bool Get(int64_t* out) { return !value_.get_int64().get(*out); }
  bool Get(uint64_t* out) { return !value_.get_uint64().get(*out); }
  bool Get(double* out) { return ReadDoubleFast(value_, out); }
  bool Get(std::string_view* out) { return !value_.get_string().get(*out); }

  template <typename Visit>
  bool ForEach(Visit visit) {
    ondemand::array array;
    if (value_.get_array().get(array)) return false;
    for (auto item : array) {
      ondemand::value value;
      if (std::move(item).get(value)) return false;
      FastCursor cursor(value);
      if (!visit(cursor)) return false;
    }
    return true;
  }

 private:
  ondemand::value value_;
};

// What a generate request may send for a tensor of one element, and a v2 request may not.
enum class Form { kList, kElement };

template <typename Json>
bool ReadNumbers(Form form, FastCursor data, const TensorBounds& bounds, RequestBuffers* buffers,
                 V2Input* input) {
  using Element = TensorElement<Json>;
  const std::optional<int64_t> count = ElementCount(input->shape);
  if (!count || static_cast<uint64_t>(*count) > bounds.max_elements) return false;
  const uint64_t byte_size = static_cast<uint64_t>(*count) * sizeof(Element);
  if (byte_size > bounds.max_bytes) return false;
  char* bytes = buffers->Allocate(byte_size);
  if (bytes == nullptr) return false;
  auto* first = reinterpret_cast<Element*>(bytes);
  TensorPlace<Json> place{first, first + *count};
  if (form == Form::kElement) {
    if (place.next == place.end || !ReadElement<Json>(data, place.next++)) return false;
  } else if (!ReadElements<Json>(data, bounds.max_depth, &place)) {
    return false;
  }
  if (place.next != place.end) return false;
  input->bytes = bytes;
  input->byte_size = byte_size;
  return true;
}

bool ReadBytes(Form form, FastCursor data, const TensorBounds& bounds, RequestBuffers* buffers,
               V2Input* input) {
  if (!ElementCount(input->shape)) return false;
  TensorStrings tensor;
  tensor.max_bytes = bounds.max_bytes;
  if (!(form == Form::kElement ? ReadString(data, &tensor)
                               : ReadStrings(data, bounds.max_depth, &tensor))) {
    return false;
  }
  if (tensor.bytes.size() > bounds.max_bytes) return false;
  input->byte_size = tensor.bytes.size();
  input->bytes = buffers->Adopt(std::move(tensor.bytes));
  return input->bytes != nullptr;
}

bool ReadData(Form form, ondemand::value data, const TensorBounds& bounds, RequestBuffers* buffers,
              V2Input* input) {
  const FastCursor cursor(data);
  return ByElementType(
      input->data_type,
      [&](auto type) { return ReadNumbers<decltype(type)>(form, cursor, bounds, buffers, input); },
      [&] { return ReadBytes(form, cursor, bounds, buffers, input); }, [] { return false; });
}

}  // namespace

bool ReadTensorFast(ondemand::value data, const TensorBounds& bounds, RequestBuffers* buffers,
                    V2Input* input) {
  return ReadData(Form::kList, data, bounds, buffers, input);
}

bool ReadElementFast(ondemand::value element, const TensorBounds& bounds, RequestBuffers* buffers,
                     V2Input* input) {
  return ReadData(Form::kElement, element, bounds, buffers, input);
}

}  // namespace nereid
