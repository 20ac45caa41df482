// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tfs/tfs_writer.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/tfs/tfs_testing.h"

namespace nereid {
namespace {

namespace serving = tensorflow::serving;
using google::protobuf::util::MessageDifferencer;
using tensorflow::TensorProto;
using ::testing::HasSubstr;
using tfs_testing::MakeConfig;
using tfs_testing::MakeTfsModel;
using tfs_testing::TestTensor;

class TfsWriterTest : public ::testing::Test {
 protected:
  void Make(const std::vector<TestTensor>& outputs,
            const std::string& signature = "serving_default", OutputLabels labels = {}) {
    auto model = MakeTfsModel(MakeConfig({{"x"}}, outputs, 8), std::move(labels));
    answer_ = TfsAnswer();
    answer_.call.signature = &model->config().tfs.signatures.at(signature);
    answer_.call.method = answer_.call.signature->method;
    answer_.signature_name = signature;
    answer_.outputs = answer_.call.signature->outputs;
    response_ =
        std::make_unique<InferResponse>(nullptr, std::move(model), "", &allocator_, nullptr);
  }

  template <typename T>
  void Add(const char* name, DataType type, const Shape& shape, const std::vector<T>& values) {
    AddBytes(name, type, shape,
             {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  void AddBytes(const char* name, DataType type, const Shape& shape, absl::string_view bytes) {
    ResponseOutput* const output = *response_->AddClientOutput(name, type, shape);
    ASSERT_TRUE(output->Allocate(bytes.size(), MemoryPlace{}).ok());
    if (!bytes.empty()) std::memcpy(output->buffer().base, bytes.data(), bytes.size());
  }

  // Reads what was written, whose size has to be as measured.
  void WriteTo(google::protobuf::Message* message) {
    TfsWriter writer(*response_, answer_);
    const absl::StatusOr<uint64_t> size = writer.Measure();
    ASSERT_TRUE(size.ok()) << size.status();
    std::string bytes;
    uint64_t own = 0;
    shared_pieces_ = 0;
    for (const WirePiece& piece : writer.Write()) {
      bytes.append(piece.bytes.data(), piece.bytes.size());
      own += piece.of_response ? 0 : piece.bytes.size();
      shared_pieces_ += piece.of_response ? 1 : 0;
    }
    EXPECT_EQ(*size, own);
    ASSERT_TRUE(message->ParseFromString(bytes));
  }
  TensorProto Written(const std::string& key = "y") {
    serving::PredictResponse response;
    WriteTo(&response);
    EXPECT_EQ(response.model_spec().name(), "m");
    EXPECT_EQ(response.model_spec().version().value(), 3);
    EXPECT_EQ(response.model_spec().signature_name(), "serving_default");
    return response.outputs().at(key);
  }
  std::string ErrorOf() {
    TfsWriter writer(*response_, answer_);
    return std::string(writer.Measure().status().message());
  }

  static TensorProto Expected(tensorflow::DataType type, const Shape& shape) {
    TensorProto tensor;
    tensor.set_dtype(type);
    tensor.mutable_tensor_shape();
    for (const int64_t dim : shape) tensor.mutable_tensor_shape()->add_dim()->set_size(dim);
    return tensor;
  }
  void ExpectWritten(const TensorProto& expected) {
    const TensorProto written = Written();
    EXPECT_TRUE(MessageDifferencer::Equals(written, expected)) << written.ShortDebugString();
  }

  HeapOutputAllocator allocator_{nullptr};
  std::unique_ptr<InferResponse> response_;
  TfsAnswer answer_;
  int shared_pieces_ = 0;
};

TEST_F(TfsWriterTest, ValuesAreInTheFieldOfTheirType) {
  Make({{"y", DataType::kFp32}});
  Add<float>("y", DataType::kFp32, {2, 1}, {1.5, -2});
  TensorProto expected = Expected(tensorflow::DT_FLOAT, {2, 1});
  expected.add_float_val(1.5);
  expected.add_float_val(-2);
  ExpectWritten(expected);

  Make({{"y", DataType::kInt8}});
  Add<int8_t>("y", DataType::kInt8, {3}, {-1, 0, 127});
  expected = Expected(tensorflow::DT_INT8, {3});
  for (const int value : {-1, 0, 127}) expected.add_int_val(value);
  ExpectWritten(expected);

  Make({{"y", DataType::kInt64}});
  Add<int64_t>("y", DataType::kInt64, {2}, {INT64_MIN, 300});
  expected = Expected(tensorflow::DT_INT64, {2});
  expected.add_int64_val(INT64_MIN);
  expected.add_int64_val(300);
  ExpectWritten(expected);

  Make({{"y", DataType::kUint32}});
  Add<uint32_t>("y", DataType::kUint32, {1}, {UINT32_MAX});
  expected = Expected(tensorflow::DT_UINT32, {1});
  expected.add_uint32_val(UINT32_MAX);
  ExpectWritten(expected);

  Make({{"y", DataType::kUint64}});
  Add<uint64_t>("y", DataType::kUint64, {1}, {UINT64_MAX});
  expected = Expected(tensorflow::DT_UINT64, {1});
  expected.add_uint64_val(UINT64_MAX);
  ExpectWritten(expected);

  Make({{"y", DataType::kBf16}});
  Add<uint16_t>("y", DataType::kBf16, {1}, {0xbf80});
  expected = Expected(tensorflow::DT_BFLOAT16, {1});
  expected.add_half_val(0xbf80);
  ExpectWritten(expected);

  Make({{"y", DataType::kBool}});
  AddBytes("y", DataType::kBool, {3}, absl::string_view("\x00\x01\xff", 3));
  expected = Expected(tensorflow::DT_BOOL, {3});
  for (const bool value : {false, true, true}) expected.add_bool_val(value);
  ExpectWritten(expected);

  Make({{"y", DataType::kBytes}});
  std::string bytes;
  AppendBytesElement("", &bytes);
  AppendBytesElement(std::string(300, '\xff'), &bytes);
  AddBytes("y", DataType::kBytes, {2}, bytes);
  expected = Expected(tensorflow::DT_STRING, {2});
  expected.add_string_val("");
  expected.add_string_val(std::string(300, '\xff'));
  ExpectWritten(expected);
}

TEST_F(TfsWriterTest, EmptyTensorsAndLargeOnes) {
  Make({{"y", DataType::kFp64}, {"z", DataType::kFp32}});
  Add<double>("y", DataType::kFp64, {0, 3}, {});
  const std::vector<float> many(5000, 0.25);
  Add<float>("z", DataType::kFp32, {5000}, many);
  ExpectWritten(Expected(tensorflow::DT_DOUBLE, {0, 3}));
  const TensorProto large = Written("z");
  EXPECT_EQ(shared_pieces_, 1);
  EXPECT_EQ(std::vector<float>(large.float_val().begin(), large.float_val().end()), many);
}

TEST_F(TfsWriterTest, OnlyTheOutputsAskedFor) {
  Make({{"y", DataType::kFp32}, {"z", DataType::kFp32}});
  answer_.outputs.erase(answer_.outputs.begin());
  Add<float>("z", DataType::kFp32, {1}, {1});
  serving::PredictResponse response;
  WriteTo(&response);
  EXPECT_EQ(response.outputs().size(), 1);
  answer_.outputs = answer_.call.signature->outputs;
  EXPECT_EQ(ErrorOf(), "the output 'y' is missing in the model's response");
}

TEST_F(TfsWriterTest, Classes) {
  Make({{"scores", DataType::kFp32}}, "classify", {{"scores", {"cat", "d\xff"}}});
  Add<float>("scores", DataType::kFp32, {2, 3}, {0.25, 0.5, 0, 1, 2, 3});
  serving::ClassificationResponse response;
  WriteTo(&response);
  ASSERT_EQ(response.result().classifications_size(), 2);
  const auto& row = response.result().classifications(1);
  ASSERT_EQ(row.classes_size(), 3);
  EXPECT_EQ(row.classes(0).label(), "cat");
  EXPECT_EQ(row.classes(0).score(), 1);
  EXPECT_EQ(row.classes(1).label(), "d\xef\xbf\xbd");
  EXPECT_EQ(row.classes(2).label(), "");
  EXPECT_EQ(response.model_spec().signature_name(), "classify");

  Make({{"classes", DataType::kBytes}, {"scores", DataType::kFp64}}, "classify");
  std::string names;
  AppendBytesElement("a", &names);
  AppendBytesElement("b", &names);
  AddBytes("classes", DataType::kBytes, {2, 1}, names);
  Add<double>("scores", DataType::kFp64, {2, 1}, {0.5, 0.75});
  WriteTo(&response);
  EXPECT_EQ(response.result().classifications(1).classes(0).label(), "b");
  EXPECT_EQ(response.result().classifications(1).classes(0).score(), 0.75);
}

TEST_F(TfsWriterTest, Regressions) {
  Make({{"y", DataType::kFp32}}, "regress");
  Add<float>("y", DataType::kFp32, {2, 1}, {0.5, 4});
  serving::RegressionResponse response;
  WriteTo(&response);
  ASSERT_EQ(response.result().regressions_size(), 2);
  EXPECT_EQ(response.result().regressions(1).value(), 4);
  Make({{"y", DataType::kFp32}}, "regress");
  Add<float>("y", DataType::kFp32, {1, 2}, {0.5, 4});
  EXPECT_THAT(ErrorOf(), HasSubstr("a regression has one value in each row"));
}

}  // namespace
}  // namespace nereid
