// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/proto_writer.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "frontends/codec/codec_testing.h"
#include "grpc_service.pb.h"

namespace nereid {
namespace {

using codec_testing::MakeModel;
using google::protobuf::util::MessageDifferencer;
using inference::ModelInferResponse;

class ProtoWriterTest : public ::testing::Test {
 protected:
  void Make(const std::vector<DataType>& outputs, const std::string& id = "") {
    response_ =
        std::make_unique<InferResponse>(nullptr, MakeModel(outputs), id, &allocator_, nullptr);
    expected_.Clear();
    expected_.set_model_name("m");
    expected_.set_model_version("1");
    expected_.set_id(id);
  }

  // Adds an output of `bytes`, and what is expected of it.
  void Add(const std::string& name, DataType type, const Shape& shape, const std::string& bytes) {
    ResponseOutput* const output = *response_->AddOutput(name, type, shape);
    ASSERT_TRUE(output->Allocate(bytes.size(), MemoryPlace{}).ok());
    if (!bytes.empty()) std::memcpy(output->buffer().base, bytes.data(), bytes.size());
    ModelInferResponse::InferOutputTensor* const tensor = expected_.add_outputs();
    tensor->set_name(name);
    tensor->set_datatype(DataTypeName(type));
    for (const int64_t dim : shape) tensor->add_shape(dim);
    expected_.add_raw_output_contents(bytes);
  }

  static std::string Join(absl::Span<const WirePiece> pieces) {
    std::string bytes;
    for (const WirePiece& piece : pieces) bytes.append(piece.bytes.data(), piece.bytes.size());
    return bytes;
  }

  void ExpectWritten() {
    const auto pieces = writer_.Write(*response_, OutputFormats());
    ASSERT_TRUE(pieces.ok());
    ModelInferResponse read;
    ASSERT_TRUE(read.ParseFromString(Join(*pieces)));
    EXPECT_TRUE(MessageDifferencer::Equals(read, expected_)) << read.ShortDebugString();
  }

  HeapOutputAllocator allocator_{nullptr};
  std::unique_ptr<InferResponse> response_;
  ModelInferResponse expected_;
  ProtoWriter writer_;
};

TEST_F(ProtoWriterTest, NoOutputs) {
  Make({});
  ExpectWritten();
}

TEST_F(ProtoWriterTest, Outputs) {
  Make({DataType::kFp32, DataType::kInt8, DataType::kBytes}, "request 7");
  Add("OUTPUT0", DataType::kFp32, {2, 1}, "12345678");
  Add("OUTPUT1", DataType::kInt8, {int64_t{1} << 40, 0, 127, 128}, "");
  Add("OUTPUT2", DataType::kBytes, {}, std::string(200, 'x'));
  ExpectWritten();
}

TEST_F(ProtoWriterTest, LargeOutputsStayWhereTheyAre) {
  const std::string large(ProtoWriter::kCopiedBytes + 1, 'y');
  Make({DataType::kInt8, DataType::kInt8, DataType::kInt8});
  Add("OUTPUT0", DataType::kInt8, {4097}, large);
  Add("OUTPUT1", DataType::kInt8, {1}, "z");
  Add("OUTPUT2", DataType::kInt8, {4097}, large);
  const auto pieces = writer_.Write(*response_, OutputFormats());
  ASSERT_TRUE(pieces.ok());
  ASSERT_EQ(pieces->size(), 4u);
  EXPECT_EQ((*pieces)[1].bytes.data(), response_->outputs()[0].buffer().base);
  EXPECT_EQ((*pieces)[3].bytes.data(), response_->outputs()[2].buffer().base);
  ExpectWritten();
}

TEST_F(ProtoWriterTest, Parameters) {
  Make({});
  response_->AddParameter({"text", std::string("x\xc3\xa9")});
  response_->AddParameter({"nothing", std::string()});
  response_->AddParameter({"number", int64_t{-3}});
  response_->AddParameter({"zero", int64_t{0}});
  response_->AddParameter({"yes", true});
  response_->AddParameter({"no", false});
  response_->AddParameter({"real", 0.1});
  auto& parameters = *expected_.mutable_parameters();
  parameters["text"].set_string_param("x\xc3\xa9");
  parameters["nothing"].set_string_param("");
  parameters["number"].set_int64_param(-3);
  parameters["zero"].set_int64_param(0);
  parameters["yes"].set_bool_param(true);
  parameters["no"].set_bool_param(false);
  parameters["real"].set_double_param(0.1);
  ExpectWritten();
}

TEST_F(ProtoWriterTest, TextThatIsNoUtf8IsReplaced) {
  Make({}, "request \xff");
  expected_.set_id("request \xef\xbf\xbd");
  response_->AddParameter({"text\xff", std::string("caf\xe9")});
  (*expected_.mutable_parameters())["text\xef\xbf\xbd"].set_string_param("caf\xef\xbf\xbd");
  ExpectWritten();
}

TEST_F(ProtoWriterTest, InAStream) {
  Make({DataType::kInt8}, std::string(300, 'i'));
  Add("OUTPUT0", DataType::kInt8, {300}, std::string(300, 'x'));
  (*expected_.mutable_parameters())["triton_final_response"].set_bool_param(false);
  const auto pieces = writer_.WriteStreamed(*response_, OutputFormats(), /*is_final=*/false);
  ASSERT_TRUE(pieces.ok());
  inference::ModelStreamInferResponse read;
  ASSERT_TRUE(read.ParseFromString(Join(*pieces)));
  EXPECT_TRUE(read.error_message().empty());
  EXPECT_TRUE(MessageDifferencer::Equals(read.infer_response(), expected_));
}

TEST_F(ProtoWriterTest, ForgetsTheLastMessage) {
  Make({DataType::kInt8}, "first");
  Add("OUTPUT0", DataType::kInt8, {1}, "x");
  ExpectWritten();
  Make({});
  ExpectWritten();
}

}  // namespace
}  // namespace nereid
