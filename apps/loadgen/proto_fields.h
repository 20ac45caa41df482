// SPDX-License-Identifier: Apache-2.0
// Reads the fields of a message in protobuf's binary form. Pure functions.
#ifndef NEREID_APPS_LOADGEN_PROTO_FIELDS_H_
#define NEREID_APPS_LOADGEN_PROTO_FIELDS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>

namespace nereid::bench {

struct ProtoField {
  // The wire types that messages of KServe use.
  enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  uint32_t number = 0;
  Type type = kVarint;
  uint64_t varint = 0;      // of a varint
  absl::string_view bytes;  // of all others
};

// Removes a varint from the front of `bytes` and returns it. DATA_LOSS if there is none.
absl::StatusOr<uint64_t> TakeVarint(absl::string_view* bytes);
// The same with a field. DATA_LOSS if `bytes` does not begin with a whole field.
absl::StatusOr<ProtoField> TakeField(absl::string_view* bytes);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_PROTO_FIELDS_H_
