// SPDX-License-Identifier: Apache-2.0
// Reflection: answers the requests of gRPC's server reflection: which services there are, and in
// which .proto file, with all that it imports, a name is defined. Works on serialised messages, of
// version v1 as well as v1alpha: the two differ only in the names of their types.
//
// Everything is looked up in tables made at the start. Protobuf's own pool of descriptors takes a
// lock, and remembers for ever each unknown name that it was asked for. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_REFLECTION_H_
#define NEREID_FRONTENDS_GRPC_REFLECTION_H_

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/budget.h"
#include "frontends/grpc/grpc_api.h"

namespace nereid {

class Reflection {
 public:
  // About the services of a port that has `api`.
  explicit Reflection(GrpcApi api);
  // About `services`, which are not needed afterwards.
  explicit Reflection(absl::Span<const google::protobuf::ServiceDescriptor* const> services);

  // Whether there is a service of that full name, as "grpc.health.v1.Health".
  bool HasService(absl::string_view full_name) const;
  // The ServerReflectionResponse to a ServerReflectionRequest. What is not known is answered, too,
  // by an error in the response. INVALID_ARGUMENT if `request` is no such message;
  // UNAVAILABLE if there is no memory for it.
  // `budget` and `holder`: see ParseCharged.
  absl::StatusOr<std::string> Answer(absl::string_view request, Budget* budget = nullptr,
                                     const std::shared_ptr<Holder>& holder = nullptr) const;

 private:
  friend class ReflectionAnswer;
  struct File {
    std::string bytes;            // its FileDescriptorProto
    std::vector<size_t> imports;  // indices of all files that it needs, each once
  };
  using Index = absl::flat_hash_map<std::string, size_t>;

  // Index of `file`, which is added if it is new, as are its imports.
  size_t AddFile(const google::protobuf::FileDescriptor& file);
  void AddService(const google::protobuf::ServiceDescriptor& service, size_t file);
  void AddMessage(const google::protobuf::Descriptor& message, size_t file);
  void AddEnum(const google::protobuf::EnumDescriptor& type, size_t file);
  void AddExtension(const google::protobuf::FieldDescriptor& extension, size_t file);

  // All are constant after construction.
  std::vector<std::string> services_;
  std::vector<File> files_;
  Index file_by_name_;
  Index file_of_symbol_;
  // For each message type, its extensions: file by number.
  absl::flat_hash_map<std::string, std::map<int, size_t>> extensions_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_REFLECTION_H_
