// SPDX-License-Identifier: Apache-2.0
#include "backends/python/request_message.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/python/ipc/protocol.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using nereid_python::RequestField;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;

// A request of which every field has a value of its own.
class RequestMessageTest : public ::testing::Test {
 protected:
  RequestMessageTest() {
    request_.id = "the id";
    request_.correlation_id = 21;
    request_.flags = 22;
    request_.timeout_us = 23;
    request_.parameters = {{"key", 24}};
    request_.wanted_outputs = {"Y", "Z"};
    request_.inputs.push_back(testing::MakeInput("X", TRITONSERVER_TYPE_INT8, {0}, ""));
    request_.trace = &trace_;
  }

  std::string Write() {
    ValueWriter message;
    ClientFiles files;
    std::vector<uint64_t> blocks;
    const Result<WrittenRequest> written =
        WriteRequest(&request_, 20, {nullptr, &files, &blocks}, &message);
    EXPECT_TRUE(written.ok());
    return message.bytes();
  }

  TRITONSERVER_InferenceTrace trace_{"the context"};
  TRITONBACKEND_Request request_;
};

// What the process finds at the place of each field. The same places, with the names that the
// runtime's Python files use: tests/python_worker/test_protocol.py.
TEST_F(RequestMessageTest, EachFieldIsAtItsPlace) {
  const std::string bytes = Write();
  ValueReader reader(bytes);
  ASSERT_EQ(reader.List(), nereid_python::kRequestFields);
  for (uint32_t place = 0; place < nereid_python::kRequestFields; ++place) {
    SCOPED_TRACE(place);
    switch (static_cast<RequestField>(place)) {
      case RequestField::kHandle:
        EXPECT_EQ(reader.Uint(), 20u);
        break;
      case RequestField::kRequestId:
        EXPECT_EQ(reader.Text(), "the id");
        break;
      case RequestField::kCorrelationId:
        EXPECT_EQ(reader.Uint(), 21u);
        break;
      case RequestField::kFlags:
        EXPECT_EQ(reader.Uint(), 22u);
        break;
      case RequestField::kTimeout:
        EXPECT_EQ(reader.Uint(), 23u);
        break;
      case RequestField::kParameters:
        EXPECT_EQ(reader.Text(), R"({"key":24})");
        break;
      case RequestField::kRequested:
        ASSERT_EQ(reader.List(), 2u);
        EXPECT_EQ(reader.Text(), "Y");
        EXPECT_EQ(reader.Text(), "Z");
        break;
      case RequestField::kInputs:
        ASSERT_EQ(reader.List(), 1u);
        EXPECT_EQ(reader.ReadTensor().name, "X");
        break;
      case RequestField::kTrace:
        EXPECT_EQ(reader.Uint(), 20u);
        break;
      case RequestField::kTraceContext:
        EXPECT_EQ(reader.Text(), "the context");
        break;
      case RequestField::kPriority:
        EXPECT_EQ(reader.Uint(), 0u);
        break;
      case RequestField::kPlaces:
        EXPECT_EQ(reader.List(), 0u);
        break;
    }
    ASSERT_TRUE(reader.ok());
  }
  EXPECT_TRUE(reader.Done());
}

TEST_F(RequestMessageTest, WhatIsMissingHasItsPlaceToo) {
  request_.trace = nullptr;
  request_.correlation_name = "a sequence";
  const std::string bytes = Write();
  ValueReader reader(bytes);
  ASSERT_EQ(reader.List(), nereid_python::kRequestFields);
  reader.Uint();
  reader.Text();
  EXPECT_EQ(reader.Text(), "a sequence");
  reader.Uint();
  reader.Uint();
  reader.Text();
  EXPECT_EQ(reader.List(), 2u);
  reader.Text();
  reader.Text();
  EXPECT_EQ(reader.List(), 1u);
  reader.ReadTensor();
  EXPECT_EQ(reader.Uint(), 0u) << "no trace";
  EXPECT_TRUE(reader.TakeNone()) << "no context";
}

}  // namespace
}  // namespace nereid_backend
