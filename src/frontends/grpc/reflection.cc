// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/reflection.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>

#include "base/status_macros.h"
#include "frontends/grpc/tree_cost.h"
#include "frontends/grpc/wire/grpc_code.h"
#include "reflection_v1.pb.h"

namespace nereid {

// The public files as a FileDescriptorSet, each behind those that it imports: defined in a source
// that the build makes of them (proto/CMakeLists.txt).
absl::string_view public_protos();

namespace {

namespace pb = google::protobuf;
namespace v1 = reflection::v1;

// The services that clients know. The messages of the frontend itself have other names, which are
// of no interest to anybody (proto/CMakeLists.txt).
struct PublicServices {
  explicit PublicServices(GrpcApi api) {
    const absl::string_view bytes = public_protos();
    pb::FileDescriptorSet files;
    files.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    for (const pb::FileDescriptorProto& proto : files.file()) {
      const pb::FileDescriptor* const file = pool.BuildFile(proto);
      if (!IsServed(file->package(), api)) continue;
      for (int i = 0; i < file->service_count(); ++i) services.push_back(file->service(i));
    }
  }

  static bool IsServed(absl::string_view package, GrpcApi api) {
    if (package == "inference") return api == GrpcApi::kInference;
    if (package == "tensorflow.serving") return api == GrpcApi::kTensorFlowServing;
    return true;
  }

  pb::DescriptorPool pool;  // owns the services
  std::vector<const pb::ServiceDescriptor*> services;
};

}  // namespace

// ---- Tables

Reflection::Reflection(GrpcApi api) : Reflection(PublicServices(api).services) {}

Reflection::Reflection(absl::Span<const pb::ServiceDescriptor* const> services) {
  for (const pb::ServiceDescriptor* service : services) {
    services_.push_back(service->full_name());
    AddFile(*service->file());
  }
}

size_t Reflection::AddFile(const pb::FileDescriptor& file) {
  if (const auto known = file_by_name_.find(file.name()); known != file_by_name_.end()) {
    return known->second;
  }
  File added;
  const auto import = [&added](size_t one) {
    const bool is_new =
        std::find(added.imports.begin(), added.imports.end(), one) == added.imports.end();
    if (is_new) added.imports.push_back(one);
  };
  for (int i = 0; i < file.dependency_count(); ++i) {
    const size_t direct = AddFile(*file.dependency(i));
    import(direct);
    for (const size_t further : files_[direct].imports) import(further);
  }
  pb::FileDescriptorProto proto;
  file.CopyTo(&proto);
  file.CopyJsonNameTo(&proto);  // clients print messages by these names
  added.bytes = proto.SerializeAsString();
  const size_t index = files_.size();
  files_.push_back(std::move(added));
  file_by_name_[file.name()] = index;
  for (int i = 0; i < file.service_count(); ++i) AddService(*file.service(i), index);
  for (int i = 0; i < file.message_type_count(); ++i) AddMessage(*file.message_type(i), index);
  for (int i = 0; i < file.enum_type_count(); ++i) AddEnum(*file.enum_type(i), index);
  for (int i = 0; i < file.extension_count(); ++i) AddExtension(*file.extension(i), index);
  return index;
}

void Reflection::AddService(const pb::ServiceDescriptor& service, size_t file) {
  file_of_symbol_[service.full_name()] = file;
  for (int i = 0; i < service.method_count(); ++i) {
    file_of_symbol_[service.method(i)->full_name()] = file;
  }
}

void Reflection::AddMessage(const pb::Descriptor& message, size_t file) {
  file_of_symbol_[message.full_name()] = file;
  extensions_.try_emplace(message.full_name());
  for (int i = 0; i < message.field_count(); ++i) {
    file_of_symbol_[message.field(i)->full_name()] = file;
  }
  for (int i = 0; i < message.oneof_decl_count(); ++i) {
    file_of_symbol_[message.oneof_decl(i)->full_name()] = file;
  }
  for (int i = 0; i < message.nested_type_count(); ++i) AddMessage(*message.nested_type(i), file);
  for (int i = 0; i < message.enum_type_count(); ++i) AddEnum(*message.enum_type(i), file);
  for (int i = 0; i < message.extension_count(); ++i) AddExtension(*message.extension(i), file);
}

void Reflection::AddEnum(const pb::EnumDescriptor& type, size_t file) {
  file_of_symbol_[type.full_name()] = file;
  for (int i = 0; i < type.value_count(); ++i) file_of_symbol_[type.value(i)->full_name()] = file;
}

void Reflection::AddExtension(const pb::FieldDescriptor& extension, size_t file) {
  file_of_symbol_[extension.full_name()] = file;
  extensions_[extension.containing_type()->full_name()][extension.number()] = file;
}

// ---- Answers

// One answer while it is made.
class ReflectionAnswer {
 public:
  ReflectionAnswer(const Reflection& tables, v1::ServerReflectionRequest request)
      : tables_(tables) {
    response_.set_valid_host(request.host());
    *response_.mutable_original_request() = std::move(request);
  }

  std::string Make() {
    const v1::ServerReflectionRequest& request = response_.original_request();
    switch (request.message_request_case()) {
      case v1::ServerReflectionRequest::kFileByFilename:
        SendFile(tables_.file_by_name_, "file", request.file_by_filename());
        break;
      case v1::ServerReflectionRequest::kFileContainingSymbol:
        SendFile(tables_.file_of_symbol_, "symbol", request.file_containing_symbol());
        break;
      case v1::ServerReflectionRequest::kFileContainingExtension:
        SendFileOfExtension(request.file_containing_extension());
        break;
      case v1::ServerReflectionRequest::kAllExtensionNumbersOfType:
        SendExtensionNumbers(request.all_extension_numbers_of_type());
        break;
      case v1::ServerReflectionRequest::kListServices:
        for (const std::string& name : tables_.services_) {
          response_.mutable_list_services_response()->add_service()->set_name(name);
        }
        break;
      case v1::ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
        SendError(GrpcCode::kInvalidArgument,
                  "the reflection request asks for nothing that this server knows: set one of "
                  "file_by_filename, file_containing_symbol, file_containing_extension, "
                  "all_extension_numbers_of_type and list_services");
    }
    return response_.SerializeAsString();
  }

 private:
  void SendFile(const Reflection::Index& index, absl::string_view kind, const std::string& name) {
    const auto found = index.find(name);
    if (found == index.end()) {
      return SendError(GrpcCode::kNotFound,
                       absl::StrCat("this server has no ", kind, " '", name, "'"));
    }
    SendFile(found->second);
  }

  // The file itself comes first.
  void SendFile(size_t index) {
    const Reflection::File& file = tables_.files_[index];
    v1::FileDescriptorResponse* const files = response_.mutable_file_descriptor_response();
    files->add_file_descriptor_proto(file.bytes);
    for (const size_t import : file.imports) {
      files->add_file_descriptor_proto(tables_.files_[import].bytes);
    }
  }

  void SendFileOfExtension(const v1::ExtensionRequest& request) {
    if (const auto type = tables_.extensions_.find(request.containing_type());
        type != tables_.extensions_.end()) {
      const auto file = type->second.find(request.extension_number());
      if (file != type->second.end()) return SendFile(file->second);
    }
    SendError(GrpcCode::kNotFound,
              absl::StrCat("this server has no extension ", request.extension_number(),
                           " of message type '", request.containing_type(), "'"));
  }

  void SendExtensionNumbers(const std::string& type_name) {
    const auto type = tables_.extensions_.find(type_name);
    if (type == tables_.extensions_.end()) {
      return SendError(GrpcCode::kNotFound,
                       absl::StrCat("this server has no message type '", type_name, "'"));
    }
    v1::ExtensionNumberResponse* const numbers = response_.mutable_all_extension_numbers_response();
    numbers->set_base_type_name(type_name);
    for (const auto& [number, file] : type->second) numbers->add_extension_number(number);
  }

  void SendError(GrpcCode code, std::string text) {
    v1::ErrorResponse* const error = response_.mutable_error_response();
    error->set_error_code(static_cast<int>(code));
    error->set_error_message(std::move(text));
  }

  const Reflection& tables_;
  v1::ServerReflectionResponse response_;
};

bool Reflection::HasService(absl::string_view full_name) const {
  return std::find(services_.begin(), services_.end(), full_name) != services_.end();
}

absl::StatusOr<std::string> Reflection::Answer(absl::string_view request, Budget* budget,
                                               const std::shared_ptr<Holder>& holder) const {
  v1::ServerReflectionRequest parsed;
  ASSIGN_OR_RETURN(const BudgetUnits tree, ParseCharged(request, budget, holder, &parsed));
  return ReflectionAnswer(*this, std::move(parsed)).Make();
}

}  // namespace nereid
