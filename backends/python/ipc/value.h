// SPDX-License-Identifier: Apache-2.0
// Values as self-describing bytes: the messages between the server and the process of a Python
// model. A tag, then its content, without alignment; both processes run on the same machine. Lists
// are tuples in Python.
//
// A ValueReader never reads beyond its bytes. Content that does not fit, or is not of the requested
// type, makes it fail, and everything read after that is zero. Another process may write to the
// memory meanwhile, so each byte is read only once.
#ifndef NEREID_BACKENDS_PYTHON_IPC_VALUE_H_
#define NEREID_BACKENDS_PYTHON_IPC_VALUE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nereid_python {

enum class Tag : char {
  kNone = 'N',
  kTrue = 'T',
  kFalse = 'F',
  kInt = 'i',   // int64
  kUint = 'u',  // uint64
  kDouble = 'd',
  kText = 's',    // uint32 length, UTF-8
  kBytes = 'b',   // uint64 length, bytes
  kList = 'l',    // uint32 count, values
  kMap = 'm',     // uint32 count, keys and values
  kTensor = 't',  // see Tensor
};

// A tensor whose elements are in a file: uint8 type, uint8 file, uint8 number of dimensions, uint32
// length and bytes of the name, int64 dimensions, uint64 block, offset, size.
struct Tensor {
  // kClient: an input in the shared memory of a client, only to the process; `block` is the number
  // of the file (file_message.h). kPlace: where an output goes in such a file; from the process:
  // the output is there.
  enum File : uint8_t { kIn, kOut, kClient, kPlace };

  std::string name;
  uint8_t type = 0;  // TRITONSERVER_DataType
  File file = kIn;
  std::vector<int64_t> dims;
  uint64_t block = 0;   // start of the block that contains the elements
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;    // in bytes; 0: there is no block
};

class ValueWriter {
 public:
  void None() { Put(Tag::kNone); }
  void Bool(bool value) { Put(value ? Tag::kTrue : Tag::kFalse); }
  void Int(int64_t value) { PutWith(Tag::kInt, value); }
  void Uint(uint64_t value) { PutWith(Tag::kUint, value); }
  void Double(double value) { PutWith(Tag::kDouble, value); }
  void Text(std::string_view text) {
    PutWith(Tag::kText, static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  void Bytes(std::string_view bytes) {
    PutWith(Tag::kBytes, static_cast<uint64_t>(bytes.size()));
    bytes_.append(bytes);
  }
  // `count` values follow.
  void List(size_t count) { PutWith(Tag::kList, static_cast<uint32_t>(count)); }
  // `count` keys follow, each with its value.
  void Map(size_t count) { PutWith(Tag::kMap, static_cast<uint32_t>(count)); }
  void Put(const Tensor& tensor) {
    Put(Tag::kTensor);
    Raw(tensor.type);
    Raw(static_cast<uint8_t>(tensor.file));
    Raw(static_cast<uint8_t>(tensor.dims.size()));
    Raw(static_cast<uint32_t>(tensor.name.size()));
    bytes_.append(tensor.name);
    for (const int64_t dim : tensor.dims) Raw(dim);
    Raw(tensor.block);
    Raw(tensor.offset);
    Raw(tensor.size);
  }

  // Appends values that were written elsewhere.
  void AppendBytes(std::string_view values) { bytes_.append(values); }
  void Append(const ValueWriter& values) { bytes_.append(values.bytes_); }

  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  void Put(Tag tag) { bytes_.push_back(static_cast<char>(tag)); }
  template <typename T>
  void Raw(T value) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    bytes_.append(bytes, sizeof(value));
  }
  template <typename T>
  void PutWith(Tag tag, T value) {
    Put(tag);
    Raw(value);
  }

  std::string bytes_;
};

class ValueReader {
 public:
  // `bytes` outlive the reader.
  explicit ValueReader(std::string_view bytes) : bytes_(bytes) {}

  // The tag of the next value; kNone at the end.
  Tag Peek() const { return bytes_.empty() ? Tag::kNone : static_cast<Tag>(bytes_[0]); }
  // If the next value is None, reads it and returns true.
  bool TakeNone() {
    if (bytes_.empty() || Peek() != Tag::kNone) return false;
    bytes_.remove_prefix(1);
    return true;
  }
  bool Bool() {
    const Tag tag = Take();
    if (tag != Tag::kTrue && tag != Tag::kFalse) Fail();
    return tag == Tag::kTrue;
  }
  int64_t Int() {
    if (Take() != Tag::kInt) Fail();
    return Raw<int64_t>();
  }
  // Reads a number that is not negative, whatever its encoding.
  uint64_t Uint() {
    const Tag tag = Take();
    const auto value = Raw<uint64_t>();
    if (tag == Tag::kUint) return value;
    if (tag != Tag::kInt || static_cast<int64_t>(value) < 0) {
      Fail();
      return 0;
    }
    return value;
  }
  // Reads any number.
  double Double() {
    const Tag tag = Take();
    if (tag == Tag::kDouble) return Raw<double>();
    if (tag == Tag::kInt) return static_cast<double>(Raw<int64_t>());
    if (tag == Tag::kUint) return static_cast<double>(Raw<uint64_t>());
    Fail();
    return 0;
  }
  std::string Text() {
    if (Take() != Tag::kText) Fail();
    return std::string(View(Raw<uint32_t>()));
  }
  // Valid as long as the bytes are.
  std::string_view Bytes() {
    if (Take() != Tag::kBytes) Fail();
    return View(Raw<uint64_t>());
  }
  // The number of values that follow; fails if the bytes cannot hold that many.
  size_t List() { return Count(Tag::kList, 1); }
  size_t Map() { return Count(Tag::kMap, 2); }
  Tensor ReadTensor() {
    Tensor tensor;
    if (Take() != Tag::kTensor) Fail();
    tensor.type = Raw<uint8_t>();
    const auto file = Raw<uint8_t>();
    if (file > Tensor::kPlace) Fail();
    tensor.file = static_cast<Tensor::File>(file);
    const auto dims = Raw<uint8_t>();
    tensor.name = View(Raw<uint32_t>());
    if (dims > bytes_.size() / sizeof(int64_t)) Fail();
    if (!ok_) return Tensor();
    for (int i = 0; i < dims; ++i) tensor.dims.push_back(Raw<int64_t>());
    tensor.block = Raw<uint64_t>();
    tensor.offset = Raw<uint64_t>();
    tensor.size = Raw<uint64_t>();
    return ok_ ? tensor : Tensor();
  }

  bool ok() const { return ok_; }
  // True if everything was read and nothing failed.
  bool Done() const { return ok_ && bytes_.empty(); }
  void Fail() {
    ok_ = false;
    bytes_ = {};
  }

 private:
  Tag Take() {
    if (bytes_.empty()) {
      Fail();
      return Tag::kNone;
    }
    const Tag tag = Peek();
    bytes_.remove_prefix(1);
    return tag;
  }
  template <typename T>
  T Raw() {
    T value{};
    if (bytes_.size() < sizeof(value)) {
      Fail();
      return T{};
    }
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }
  std::string_view View(uint64_t size) {
    if (size > bytes_.size()) {
      Fail();
      return {};
    }
    const std::string_view view = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return view;
  }
  size_t Count(Tag tag, size_t values_each) {
    if (Take() != tag) Fail();
    const auto count = Raw<uint32_t>();
    if (count > bytes_.size() / values_each) {  // a value takes at least a byte
      Fail();
      return 0;
    }
    return count;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_PYTHON_IPC_VALUE_H_
