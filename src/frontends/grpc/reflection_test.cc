// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/reflection.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <set>

#include "public/grpc_service.pb.h"
#include "reflection_v1.pb.h"
#include "reflection_v1alpha.pb.h"

namespace nereid {
namespace {

namespace pb = google::protobuf;
using reflection::v1::ServerReflectionRequest;
using reflection::v1::ServerReflectionResponse;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr int kInvalidArgument = 3;
constexpr int kNotFound = 5;

ServerReflectionResponse Ask(const Reflection& reflection, const ServerReflectionRequest& request) {
  const absl::StatusOr<std::string> answer = reflection.Answer(request.SerializeAsString());
  EXPECT_TRUE(answer.ok()) << answer.status();
  ServerReflectionResponse response;
  EXPECT_TRUE(response.ParseFromString(answer.value_or("")));
  EXPECT_EQ(response.original_request().SerializeAsString(), request.SerializeAsString());
  EXPECT_EQ(response.valid_host(), request.host());
  return response;
}

ServerReflectionResponse AskForSymbol(const Reflection& reflection, const std::string& name) {
  ServerReflectionRequest request;
  request.set_file_containing_symbol(name);
  return Ask(reflection, request);
}

// Names of the files, in order; each must be a descriptor.
std::vector<std::string> FileNames(const ServerReflectionResponse& response) {
  std::vector<std::string> names;
  for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
    pb::FileDescriptorProto file;
    EXPECT_TRUE(file.ParseFromString(bytes));
    names.push_back(file.name());
  }
  return names;
}

class ReflectionTest : public testing::Test {
 protected:
  const Reflection reflection_{GrpcApi::kInference};
};

TEST_F(ReflectionTest, ListsTheServices) {
  ServerReflectionRequest request;
  request.set_host("somewhere");
  request.set_list_services("");
  const ServerReflectionResponse response = Ask(reflection_, request);
  std::vector<std::string> names;
  for (const auto& service : response.list_services_response().service()) {
    names.push_back(service.name());
    EXPECT_TRUE(reflection_.HasService(service.name()));
  }
  EXPECT_THAT(names, UnorderedElementsAre("inference.GRPCInferenceService", "grpc.health.v1.Health",
                                          "grpc.reflection.v1.ServerReflection",
                                          "grpc.reflection.v1alpha.ServerReflection"));
  EXPECT_FALSE(reflection_.HasService("inference.ModelConfig"));
  EXPECT_FALSE(reflection_.HasService(""));
}

TEST_F(ReflectionTest, AFileComesWithAllThatItImports) {
  ServerReflectionRequest request;
  request.set_file_by_filename("grpc_service.proto");
  EXPECT_THAT(FileNames(Ask(reflection_, request)),
              ElementsAre("grpc_service.proto", "model_config.proto"));
  request.set_file_by_filename("model_config.proto");
  EXPECT_THAT(FileNames(Ask(reflection_, request)), ElementsAre("model_config.proto"));
}

TEST_F(ReflectionTest, NamesOfEveryKindAreFound) {
  for (const char* name :
       {"inference.GRPCInferenceService", "inference.GRPCInferenceService.ModelInfer",
        "inference.ModelInferRequest", "inference.ModelInferRequest.InferInputTensor",
        "inference.ModelInferRequest.InferInputTensor.shape",
        "inference.InferParameter.parameter_choice"}) {
    EXPECT_THAT(FileNames(AskForSymbol(reflection_, name)),
                ElementsAre("grpc_service.proto", "model_config.proto"))
        << name;
  }
  for (const char* name : {"inference.ModelConfig", "inference.DataType", "inference.TYPE_FP32",
                           "inference.ModelInstanceGroup.Kind"}) {
    EXPECT_THAT(FileNames(AskForSymbol(reflection_, name)), ElementsAre("model_config.proto"))
        << name;
  }
  EXPECT_THAT(FileNames(AskForSymbol(reflection_, "grpc.health.v1.Health.Watch")),
              ElementsAre("health.proto"));
}

// What a client makes of the answer is what the server has.
TEST_F(ReflectionTest, TheFilesMakeTheSameService) {
  pb::DescriptorPool pool;
  const ServerReflectionResponse response =
      AskForSymbol(reflection_, "inference.GRPCInferenceService");
  const auto& files = response.file_descriptor_response().file_descriptor_proto();
  for (auto bytes = files.rbegin(); bytes != files.rend(); ++bytes) {
    pb::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(*bytes));
    ASSERT_NE(pool.BuildFile(file), nullptr);
  }
  const pb::ServiceDescriptor* const ours =
      ::inference::ModelInferRequest::descriptor()->file()->service(0);
  const pb::ServiceDescriptor* const theirs = pool.FindServiceByName(ours->full_name());
  ASSERT_NE(theirs, nullptr);
  EXPECT_EQ(theirs->DebugString(), ours->DebugString());
}

TEST_F(ReflectionTest, WhatIsNotKnownIsNotFound) {
  ServerReflectionResponse response = AskForSymbol(reflection_, "inference.Nobody");
  EXPECT_EQ(response.error_response().error_code(), kNotFound);
  EXPECT_EQ(response.error_response().error_message(),
            "this server has no symbol 'inference.Nobody'");
  // Neither packages nor files of the program that no service needs are told.
  for (const char* name : {"", "inference", ".inference.ModelConfig", "google.protobuf.Any",
                           "google.protobuf.FileDescriptorProto"}) {
    response = AskForSymbol(reflection_, name);
    EXPECT_EQ(response.error_response().error_code(), kNotFound) << name;
  }
  ServerReflectionRequest request;
  request.set_file_by_filename("google/protobuf/descriptor.proto");
  EXPECT_EQ(Ask(reflection_, request).error_response().error_message(),
            "this server has no file 'google/protobuf/descriptor.proto'");
}

TEST_F(ReflectionTest, TypesWithoutExtensions) {
  ServerReflectionRequest request;
  request.set_all_extension_numbers_of_type("inference.ModelConfig");
  ServerReflectionResponse response = Ask(reflection_, request);
  EXPECT_EQ(response.all_extension_numbers_response().base_type_name(), "inference.ModelConfig");
  EXPECT_EQ(response.all_extension_numbers_response().extension_number_size(), 0);
  request.set_all_extension_numbers_of_type("inference.Nobody");
  EXPECT_EQ(Ask(reflection_, request).error_response().error_message(),
            "this server has no message type 'inference.Nobody'");
  request.mutable_file_containing_extension()->set_containing_type("inference.ModelConfig");
  request.mutable_file_containing_extension()->set_extension_number(7);
  response = Ask(reflection_, request);
  EXPECT_EQ(response.error_response().error_code(), kNotFound);
  EXPECT_EQ(response.error_response().error_message(),
            "this server has no extension 7 of message type 'inference.ModelConfig'");
}

pb::FileDescriptorProto NewFile(const std::string& name, const std::vector<std::string>& imports) {
  pb::FileDescriptorProto file;
  file.set_name(name);
  file.set_package("p");
  for (const std::string& import : imports) file.add_dependency(import);
  return file;
}

// A service whose file imports "left" and "right", which both import "base". Extensions in "base"
// and "left" are of a message in "base".
const pb::ServiceDescriptor* BuildDiamond(pb::DescriptorPool* pool) {
  pb::FileDescriptorProto base = NewFile("base", {});
  pb::DescriptorProto* const message = base.add_message_type();
  message->set_name("Base");
  message->add_extension_range()->set_start(10);
  message->mutable_extension_range(0)->set_end(20);
  const auto extend = [](pb::FileDescriptorProto* file, const std::string& name, int number) {
    pb::FieldDescriptorProto* const field = file->add_extension();
    field->set_name(name);
    field->set_number(number);
    field->set_extendee(".p.Base");
    field->set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
    field->set_type(pb::FieldDescriptorProto::TYPE_INT32);
  };
  extend(&base, "own", 12);
  pb::FileDescriptorProto left = NewFile("left", {"base"});
  extend(&left, "added", 11);
  pb::FileDescriptorProto top = NewFile("top", {"left", "right"});
  top.add_service()->set_name("Service");
  pool->BuildFile(base);
  pool->BuildFile(left);
  pool->BuildFile(NewFile("right", {"base"}));
  return pool->BuildFile(top)->service(0);
}

TEST(Reflection, SharedImportsComeOnce) {
  pb::DescriptorPool pool;
  const Reflection reflection({BuildDiamond(&pool)});
  EXPECT_THAT(FileNames(AskForSymbol(reflection, "p.Service")),
              ElementsAre("top", "left", "base", "right"));
}

TEST(Reflection, Extensions) {
  pb::DescriptorPool pool;
  const Reflection reflection({BuildDiamond(&pool)});
  ServerReflectionRequest request;
  request.set_all_extension_numbers_of_type("p.Base");
  EXPECT_THAT(Ask(reflection, request).all_extension_numbers_response().extension_number(),
              ElementsAre(11, 12));
  request.mutable_file_containing_extension()->set_containing_type("p.Base");
  request.mutable_file_containing_extension()->set_extension_number(11);
  EXPECT_THAT(FileNames(Ask(reflection, request)), ElementsAre("left", "base"));
  request.mutable_file_containing_extension()->set_extension_number(12);
  EXPECT_THAT(FileNames(Ask(reflection, request)), ElementsAre("base"));
  EXPECT_THAT(FileNames(AskForSymbol(reflection, "p.added")), ElementsAre("left", "base"));
}

// ---- Malformed requests

TEST_F(ReflectionTest, ARequestThatAsksForNothing) {
  const ServerReflectionResponse response = Ask(reflection_, ServerReflectionRequest());
  EXPECT_EQ(response.error_response().error_code(), kInvalidArgument);
  EXPECT_THAT(response.error_response().error_message(), HasSubstr("list_services"));
}

TEST_F(ReflectionTest, BytesThatAreNoRequest) {
  for (const absl::string_view bytes :
       {absl::string_view("\xff\xff\xff\xff", 4),
        absl::string_view("\x1a\x05"
                          "ab",
                          4),
        absl::string_view("\x1a\xff\xff\xff\xff\x0f", 6), absl::string_view("\x22\x01\xff", 3),
        absl::string_view("\x0b\x0b\x0b", 3), absl::string_view("\0", 1)}) {
    EXPECT_EQ(reflection_.Answer(bytes).status(),
              absl::InvalidArgumentError("Unable to parse request"));
  }
}

TEST_F(ReflectionTest, ARequestThatIsCutAnywhere) {
  ServerReflectionRequest request;
  request.set_host("host");
  request.mutable_file_containing_extension()->set_containing_type("inference.ModelConfig");
  request.mutable_file_containing_extension()->set_extension_number(300);
  const std::string bytes = request.SerializeAsString();
  // Only between its fields is what is left a request.
  const std::set<size_t> whole = {0, 6, bytes.size()};
  for (size_t size = 0; size <= bytes.size(); ++size) {
    EXPECT_EQ(reflection_.Answer(absl::string_view(bytes).substr(0, size)).ok(),
              whole.count(size) > 0)
        << size;
  }
}

// The answers are made of the messages of v1, whichever version is asked.
TEST_F(ReflectionTest, BothVersionsAreTheSameOnTheWire) {
  const auto fields = [](const pb::FileDescriptor* file) {
    pb::FileDescriptorProto proto;
    file->CopyTo(&proto);
    std::string text = proto.DebugString();
    for (size_t at; (at = text.find("v1alpha")) != std::string::npos;) text.replace(at, 7, "v1");
    return text;
  };
  EXPECT_EQ(fields(reflection::v1::ServerReflectionRequest::descriptor()->file()),
            fields(reflection::v1alpha::ServerReflectionRequest::descriptor()->file()));
}

}  // namespace
}  // namespace nereid
