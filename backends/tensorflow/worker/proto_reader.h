// SPDX-License-Identifier: Apache-2.0
// ProtoReader: the fields of a protobuf message in wire format, one after the other, without
// copying. It never reads beyond its bytes. A value; the bytes outlive it.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_PROTO_READER_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_PROTO_READER_H_

#include <cstdint>
#include <string_view>

namespace nereid_tensorflow {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : bytes_(bytes) {}

  // Reads the next field. False at the end, and if the bytes are not such a message: see ok().
  bool Next();
  bool ok() const { return ok_; }

  // Properties of the field just read.
  uint32_t number() const { return number_; }
  uint64_t varint() const { return varint_; }          // 0 unless it is one
  std::string_view bytes() const { return payload_; }  // empty unless it has a length

 private:
  bool Varint(uint64_t* value);
  bool Skip(uint64_t size);

  std::string_view bytes_;
  bool ok_ = true;
  uint32_t number_ = 0;
  uint64_t varint_ = 0;
  std::string_view payload_;
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_PROTO_READER_H_
