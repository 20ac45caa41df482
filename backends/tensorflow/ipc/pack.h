// SPDX-License-Identifier: Apache-2.0
// Packer and Unpacker: values as bytes and back, for messages between the server and the worker,
// which are always built together and run on one machine. An Unpacker never reads beyond its bytes;
// content that does not fit makes it fail, and everything read after that is zero. Values.
#ifndef NEREID_BACKENDS_TENSORFLOW_IPC_PACK_H_
#define NEREID_BACKENDS_TENSORFLOW_IPC_PACK_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nereid_tensorflow {

// Dimensions; -1: any size.
using Dims = std::vector<int64_t>;

class Packer {
 public:
  template <typename T>
  void Number(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(value));
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
  }
  void Text(std::string_view text) {
    Number<uint64_t>(text.size());
    bytes_.append(text);
  }
  void Shape(const Dims& dims) {
    Number<uint64_t>(dims.size());
    for (const int64_t dim : dims) Number(dim);
  }
  void Texts(const std::vector<std::string>& texts) {
    Number<uint64_t>(texts.size());
    for (const std::string& text : texts) Text(text);
  }

  void Clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  // `bytes` outlive the unpacker.
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Number() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T value{};
    if (bytes_.size() < sizeof(value)) {
      Fail();
      return T{};
    }
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }
  std::string_view View() {
    const uint64_t size = Number<uint64_t>();
    if (size > bytes_.size()) {
      Fail();
      return {};
    }
    const std::string_view view = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return view;
  }
  std::string Text() { return std::string(View()); }
  Dims Shape() {
    Dims dims(Count(sizeof(int64_t)));
    for (int64_t& dim : dims) dim = Number<int64_t>();
    return dims;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts(Count(sizeof(uint64_t)));
    for (std::string& text : texts) text = Text();
    return texts;
  }
  // A number of items that take at least `item_size` bytes each: fails if the bytes cannot hold
  // them, so that a wrong number causes no allocation.
  size_t Count(size_t item_size) {
    const uint64_t count = Number<uint64_t>();
    if (count > bytes_.size() / item_size) {
      Fail();
      return 0;
    }
    return count;
  }

  bool ok() const { return ok_; }
  // True if everything was read and nothing failed.
  bool Done() const { return ok_ && bytes_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    bytes_ = {};
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_IPC_PACK_H_
