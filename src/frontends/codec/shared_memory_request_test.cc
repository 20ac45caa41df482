// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/shared_memory_request.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

absl::StatusOr<SharedMemoryRegion> ReadRegister(absl::string_view body) {
  return ReadRegisterRequest("r", body, ParseBudget::UpTo(2 << 20));
}

std::string ErrorOf(const std::string& body) {
  const absl::Status status = ReadRegister(body).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << body;
  return std::string(status.message());
}

TEST(SharedMemoryBodyTest, ReadsRegions) {
  const auto region = ReadRegister(R"({"key":"/k","offset":8,"byte_size":64})");
  ASSERT_TRUE(region.ok()) << region.status();
  EXPECT_EQ(region->name, "r");
  EXPECT_EQ(region->key, "/k");
  EXPECT_EQ(region->offset, 8u);
  EXPECT_EQ(region->byte_size, 64u);
  EXPECT_EQ(ReadRegister(R"({"key":"/k","byte_size":64})")->offset, 0u);
}

TEST(SharedMemoryBodyTest, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(ErrorOf(""), "Shared memory register request has no 'key' field");
  EXPECT_EQ(ErrorOf("[]"), "attempt to access JSON non-object as object");
  EXPECT_EQ(ErrorOf(R"({"key":"/k"})"), "Shared memory register request has no 'byte_size' field");
  EXPECT_EQ(ErrorOf(R"({"key":3,"byte_size":1})"),
            "Unable to parse 'key': attempt to access JSON non-string as string");
  EXPECT_EQ(ErrorOf(R"({"key":"k","byte_size":-1})"),
            "Unable to parse 'byte_size': attempt to access JSON non-unsigned-integer as "
            "unsigned-integer");
  EXPECT_EQ(ErrorOf(R"({"key":"k","byte_size":1,"offset":"x"})"),
            "Unable to parse 'offset': attempt to access JSON non-unsigned-integer as "
            "unsigned-integer");
  EXPECT_FALSE(ReadRegister("{").ok());
}

TEST(SharedMemoryBodyTest, DescribesRegions) {
  EXPECT_EQ(ToJson(std::vector<SharedMemoryRegion>()), "[]");
  EXPECT_EQ(ToJson(std::vector<CudaMemoryRegion>()), "[]");
  EXPECT_EQ(ToJson(std::vector<CudaMemoryRegion>{{"c", 2, 64}}),
            R"([{"name":"c","device_id":2,"byte_size":64}])");
  EXPECT_EQ(ToJson(std::vector<SharedMemoryRegion>{{"a\"b", "/k", 8, 64}}),
            R"([{"name":"a\"b","key":"/k","offset":8,"byte_size":64}])");
}

TEST(SharedMemoryBodyTest, ReadsRegionsOfCudaMemory) {
  const auto read = [](const std::string& handle) {
    return ReadCudaRegisterRequest(
        "r",
        absl::StrCat(R"({"raw_handle":{"b64":")", handle, R"("},"device_id":1,"byte_size":8})"),
        ParseBudget::UpTo(10000));
  };
  const std::string bytes(64, 'h');
  const auto request = read(absl::Base64Escape(bytes));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->handle, bytes);
  EXPECT_EQ(request->region.name, "r");
  EXPECT_EQ(request->region.device_id, 1);
  EXPECT_EQ(request->region.byte_size, 8u);
  for (const std::string& wrong :
       {absl::Base64Escape(bytes + "h"), std::string("?"), std::string()}) {
    EXPECT_EQ(read(wrong).status(),
              absl::InvalidArgumentError(
                  "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t"));
  }
}

TEST(SharedMemoryBodyTest, UnknownMembersAreRefusedByName) {
  EXPECT_EQ(ReadRegister(R"({"key":"/k","byte_size":64,"ofset":8})").status(),
            absl::InvalidArgumentError("unknown member of a shared memory register request "
                                       "'ofset', did you mean 'offset'? Known: key, offset, "
                                       "byte_size"));
}

TEST(SharedMemoryBodyTest, ABodyChoosesNoRegionToUnregister) {
  const ParseBudget budget = ParseBudget::UpTo(1000);
  EXPECT_EQ(CheckUnregisterRequest("", budget), absl::OkStatus());
  EXPECT_EQ(CheckUnregisterRequest("{}", budget), absl::OkStatus());
  EXPECT_EQ(CheckUnregisterRequest(R"({"name":"r"})", budget),
            absl::InvalidArgumentError("unknown member of a shared memory unregister request "
                                       "'name'. Known: none"));
  EXPECT_FALSE(CheckUnregisterRequest("all", budget).ok());
}

}  // namespace
}  // namespace nereid
