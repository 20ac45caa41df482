// SPDX-License-Identifier: Apache-2.0
#include "scheduling/sequence/sequence_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduling/testing/sequence_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

class ControlsTest : public ::testing::Test {
 protected:
  void Use(CompiledModel model) {
    model_ = std::make_shared<FakeModel>(std::move(model));
    request_ = std::make_unique<InferRequest>(model_, -1);
  }
  std::string BytesOf(const std::string& name) const {
    const InferInput* const input = request_->FindBackendInput(name);
    if (input == nullptr || input->buffers().size() != 1) return "no such tensor";
    return std::string(static_cast<const char*>(input->buffers()[0].base), input->byte_size());
  }

  std::shared_ptr<FakeModel> model_;
  std::unique_ptr<InferRequest> request_;
};

TEST_F(ControlsTest, AreInputsOfTheBackendOnly) {
  Use(SequenceModel(4, 1));
  const SequenceControls controls(&model_->config());
  const std::string id = controls.EncodeId(CorrelationId(7));
  controls.Attach({true, false, true, id}, request_.get());
  EXPECT_TRUE(request_->inputs().empty());
  ASSERT_EQ(request_->backend_input_count(), 4u);
  const InferInput* const start = request_->FindBackendInput("START");
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->data_type(), DataType::kInt32);
  EXPECT_THAT(start->shape(), ElementsAre(1, 1));
  EXPECT_EQ(BytesOf("START"), std::string("\1\0\0\0", 4));
  EXPECT_EQ(BytesOf("END"), std::string("\0\0\0\0", 4));
  EXPECT_EQ(BytesOf("READY"), std::string("\1\0\0\0", 4));
  EXPECT_EQ(BytesOf("CORRID"), std::string("\7\0\0\0\0\0\0\0", 8));
  // A second call, as for a rescheduled request, replaces the controls.
  controls.Attach({}, request_.get());
  EXPECT_EQ(request_->backend_input_count(), 4u);
  EXPECT_EQ(BytesOf("START"), std::string("\0\0\0\0", 4));
  EXPECT_EQ(BytesOf("CORRID"), std::string(8, '\0'));
}

TEST_F(ControlsTest, WithoutBatchDimensionAndWithoutId) {
  CompiledModel model = SequenceModel(0, 1);
  model.sequence.controls = {Int32Control("START", SequenceControl::Kind::kStart)};
  Use(std::move(model));
  const SequenceControls controls(&model_->config());
  EXPECT_EQ(controls.EncodeId(CorrelationId(7)), "");
  controls.Attach({}, request_.get());
  EXPECT_THAT(request_->FindBackendInput("START")->shape(), ElementsAre(1));
}

TEST_F(ControlsTest, TypesOfTheCorrelationId) {
  const CorrelationId large(0x1122334455667788);
  struct Case {
    DataType type;
    CorrelationId id;
    std::string element;
  };
  const std::string eight("\x88\x77\x66\x55\x44\x33\x22\x11", 8);
  const Case cases[] = {
      {DataType::kUint64, large, eight},
      {DataType::kInt64, large, eight},
      {DataType::kUint32, large, eight.substr(0, 4)},
      {DataType::kInt32, large, eight.substr(0, 4)},
      {DataType::kBytes, CorrelationId(std::string("abc")), std::string("\3\0\0\0abc", 7)},
  };
  for (const Case& c : cases) {
    CompiledModel model = SequenceModel(1, 1);
    model.sequence.controls = {IdControl(c.type)};
    Use(std::move(model));
    const SequenceControls controls(&model_->config());
    EXPECT_EQ(controls.EncodeId(c.id), c.element) << DataTypeName(c.type);
    controls.Attach({}, request_.get());
    // A gap has the id 0 or "".
    const size_t size = c.type == DataType::kBytes ? 4 : c.element.size();
    EXPECT_EQ(BytesOf("CORRID"), std::string(size, '\0'));
  }
}

}  // namespace
}  // namespace nereid
