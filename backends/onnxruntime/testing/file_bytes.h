// SPDX-License-Identifier: Apache-2.0
// Makes ONNX files for tests, message by message. Pure functions.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_TESTING_FILE_BYTES_H_
#define NEREID_BACKENDS_ONNXRUNTIME_TESTING_FILE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace nereid_backend {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  return bytes + static_cast<char>(value);
}

// A field of onnx.proto with a number, or with bytes.
inline std::string Number(uint64_t field, uint64_t value) {
  return Varint(field << 3) + Varint(value);
}
inline std::string Bytes(uint64_t field, const std::string& bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

inline std::string Dim(uint64_t value) { return Bytes(1, Number(1, value)); }
inline std::string Dim(const std::string& name) { return Bytes(1, Bytes(2, name)); }
inline std::string NoDim() { return Bytes(1, ""); }

// A ValueInfoProto of a float tensor.
inline std::string Value(const std::string& name, const std::string& dims) {
  const std::string tensor = Number(1, 1) + Bytes(2, dims);
  return Bytes(1, name) + Bytes(2, Bytes(1, tensor));
}

// A TensorProto: its name stands between its dims and its data.
inline std::string Weights(const std::string& name, size_t size) {
  return Number(1, size) + Number(2, 1) + Bytes(8, name) + Bytes(9, std::string(size, 'w'));
}

inline std::string Model(const std::string& graph) {
  return Number(1, 8) + Bytes(2, "producer") + Bytes(7, graph) + Bytes(8, Number(2, 17));
}

// A node of a graph, by the names of what it reads and makes.
inline std::string Node(std::initializer_list<const char*> reads,
                        std::initializer_list<const char*> makes,
                        const std::string& attributes = "") {
  std::string bytes;
  for (const char* name : reads) bytes += Bytes(1, name);
  for (const char* name : makes) bytes += Bytes(2, name);
  return Bytes(1, bytes + Bytes(4, "Op") + attributes);
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_TESTING_FILE_BYTES_H_
