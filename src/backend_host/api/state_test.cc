// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "c_objects/buffer_attributes.h"
#include "infer/infer_request.h"
#include "infer/sequence_states.h"
#include "infer/testing/fake_model.h"
#include "triton/core/tritonbackend.h"

namespace nereid {
namespace {

// "" for success.
std::string Text(TRITONSERVER_Error* error) {
  if (error == nullptr) return "";
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_INVALID_ARG);
  const std::string text = TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  return text;
}

ModelBuilder Model() {
  StateSpec spec;
  spec.input_name = "IN";
  spec.output_name = "OUT";
  spec.data_type = DataType::kInt32;
  spec.dims = {kVariableDim};
  ModelBuilder builder("m");
  builder.MaxBatch(4).State(spec);
  return builder;
}

class StateApiTest : public ::testing::Test {
 protected:
  TRITONBACKEND_Request* handle() {
    return reinterpret_cast<TRITONBACKEND_Request*>(request_.get());
  }
  // A new request of the sequence.
  void Step() {
    request_ = std::make_unique<InferRequest>(model_, 1);
    ASSERT_TRUE(states_->AttachTo(request_.get()).ok());
  }
  std::string NewState(const char* name, TRITONBACKEND_State** state) {
    const int64_t shape[] = {1, 2};
    return Text(TRITONBACKEND_StateNew(state, handle(), name, TRITONSERVER_TYPE_INT32, shape, 2));
  }
  // What the backend reads as the state.
  std::string Read() {
    TRITONBACKEND_Input* input = nullptr;
    EXPECT_EQ(Text(TRITONBACKEND_RequestInput(handle(), "IN", &input)), "");
    const void* buffer = nullptr;
    uint64_t size = 0;
    TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_GPU;
    int64_t id = 7;
    EXPECT_EQ(Text(TRITONBACKEND_InputBuffer(input, 0, &buffer, &size, &memory, &id)), "");
    EXPECT_EQ(memory, TRITONSERVER_MEMORY_CPU);
    return std::string(static_cast<const char*>(buffer), size);
  }

  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(Model());
  const std::unique_ptr<SequenceStates> states_ = SequenceStates::Create(model_->config());
  std::unique_ptr<InferRequest> request_;
};

TEST_F(StateApiTest, WhatIsWrittenAndUpdatedIsReadNext) {
  Step();
  EXPECT_EQ(Read(), std::string(4, '\0'));
  TRITONBACKEND_State* state = nullptr;
  ASSERT_EQ(NewState("OUT", &state), "");
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_GPU;
  int64_t id = 7;
  ASSERT_EQ(Text(TRITONBACKEND_StateBuffer(state, &buffer, 8, &memory, &id)), "");
  EXPECT_EQ(memory, TRITONSERVER_MEMORY_CPU) << "whatever was asked for";
  EXPECT_EQ(id, 0);
  std::memcpy(buffer, "abcdefgh", 8);
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  ASSERT_EQ(Text(TRITONBACKEND_StateBufferAttributes(state, &attributes)), "");
  EXPECT_EQ(attributes->byte_size, 8u);
  Step();
  EXPECT_EQ(Read(), std::string(4, '\0')) << "there was no update";
  ASSERT_EQ(NewState("OUT", &state), "");
  ASSERT_EQ(Text(TRITONBACKEND_StateBuffer(state, &buffer, 8, &memory, &id)), "");
  std::memcpy(buffer, "ABCDEFGH", 8);
  ASSERT_EQ(Text(TRITONBACKEND_StateUpdate(state)), "");
  Step();
  EXPECT_EQ(Read(), "ABCDEFGH");
}

TEST_F(StateApiTest, TheBackendSeesStatesAmongTheInputs) {
  Step();
  uint32_t count = 0;
  ASSERT_EQ(Text(TRITONBACKEND_RequestInputCount(handle(), &count)), "");
  ASSERT_EQ(count, 1u);
  const char* name = nullptr;
  ASSERT_EQ(Text(TRITONBACKEND_RequestInputName(handle(), 0, &name)), "");
  EXPECT_STREQ(name, "IN");
  TRITONBACKEND_Input* by_index = nullptr;
  TRITONBACKEND_Input* by_name = nullptr;
  ASSERT_EQ(Text(TRITONBACKEND_RequestInputByIndex(handle(), 0, &by_index)), "");
  ASSERT_EQ(Text(TRITONBACKEND_RequestInput(handle(), "IN", &by_name)), "");
  EXPECT_EQ(by_index, by_name);
}

TEST_F(StateApiTest, Errors) {
  TRITONBACKEND_State* state = nullptr;
  request_ = std::make_unique<InferRequest>(model_, 1);
  EXPECT_EQ(NewState("OUT", &state),
            "unable to add state 'OUT'. State configuration is missing for model 'm'.");
  Step();
  EXPECT_EQ(NewState("IN", &state), "state 'IN' is not a valid state name.");
  EXPECT_EQ(state, nullptr);
}

}  // namespace
}  // namespace nereid
