// SPDX-License-Identifier: Apache-2.0
#include "cache/packed_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

// Reports `type` for its buffers, counts them, and fails if `fail` is set. Thread-compatible.
class CountingAllocator final : public OutputAllocator {
 public:
  absl::Status Allocate(const char* tensor_name, void*, OutputBuffer* buffer) const override {
    if (fail) return absl::UnavailableError("no memory");
    if (buffer->byte_size == 0) return absl::OkStatus();
    buffer->base = new char[buffer->byte_size];
    buffer->place.type = type;
    ++live;
    return absl::OkStatus();
  }
  void Release(const OutputBuffer& buffer) const override {
    delete[] static_cast<char*>(buffer.base);
    --live;
  }

  MemoryType type = MemoryType::kCpu;
  bool fail = false;
  mutable int live = 0;
};

class PackedResponseTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(allocator_.live, 0); }

  static ModelBuilder Builder() {
    OutputSpec reshaped;
    reshaped.name = "reshaped";
    reshaped.data_type = DataType::kInt8;
    reshaped.dims = {2, 2};
    reshaped.reshape = Shape{4};
    ModelBuilder builder("m");
    builder.MaxBatch(4).Input("in", DataType::kInt8, {1});
    builder.Output("text", DataType::kBytes, {-1}).Output("none", DataType::kFp32, {-1});
    builder.Output(std::move(reshaped));
    return builder;
  }

  std::unique_ptr<InferResponse> NewResponse() {
    return std::make_unique<InferResponse>(nullptr, model_, "id", &allocator_, nullptr);
  }
  static void Add(InferResponse* response, const char* name, DataType type, const Shape& shape,
                  const std::string& bytes) {
    const auto output = response->AddOutput(name, type, shape);
    ASSERT_TRUE(output.ok()) << output.status();
    ASSERT_TRUE((*output)->Allocate(bytes.size(), MemoryPlace{}).ok());
    if (!bytes.empty()) std::memcpy((*output)->buffer().base, bytes.data(), bytes.size());
  }
  std::unique_ptr<InferResponse> Full() {
    auto response = NewResponse();
    Add(response.get(), "text", DataType::kBytes, {1, 2}, std::string("\3\0\0\0abc\0\0\0\0", 11));
    Add(response.get(), "none", DataType::kFp32, {1, 0}, "");
    Add(response.get(), "reshaped", DataType::kInt8, {1, 4}, std::string("\1\2\3\4", 4));
    response->AddParameter({"text", std::string("value")});
    response->AddParameter({"number", int64_t{-5}});
    response->AddParameter({"flag", true});
    response->AddParameter({"fraction", 0.25});
    return response;
  }
  static std::string Pack(const InferResponse& response) {
    EXPECT_TRUE(CheckPackable(response).ok());
    std::string bytes(PackedSize(response), '\0');
    PackResponse(response, bytes.data());
    return bytes;
  }

  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(Builder());
  CountingAllocator allocator_;
};

TEST_F(PackedResponseTest, EverythingComesBack) {
  const std::string bytes = Pack(*Full());
  auto response = NewResponse();
  ASSERT_TRUE(UnpackResponse(bytes, response.get()).ok());
  ASSERT_EQ(response->outputs().size(), 3u);
  const ResponseOutput& text = response->outputs()[0];
  EXPECT_EQ(text.name(), "text");
  EXPECT_EQ(text.data_type(), DataType::kBytes);
  EXPECT_EQ(text.shape(), (Shape{1, 2}));
  EXPECT_EQ(std::string(static_cast<const char*>(text.buffer().base), text.buffer().byte_size),
            std::string("\3\0\0\0abc\0\0\0\0", 11));
  EXPECT_EQ(response->outputs()[1].shape(), (Shape{1, 0}));
  EXPECT_TRUE(response->outputs()[1].allocated());
  EXPECT_EQ(response->outputs()[2].shape(), (Shape{1, 2, 2})) << "as the client saw it";
  ASSERT_EQ(response->parameters().size(), 4u);
  EXPECT_EQ(response->parameters()[0].name, "text");
  EXPECT_EQ(response->parameters()[0].value, ParameterValue(std::string("value")));
  EXPECT_EQ(response->parameters()[1].value, ParameterValue(int64_t{-5}));
  EXPECT_EQ(response->parameters()[2].value, ParameterValue(true));
  EXPECT_EQ(response->parameters()[3].value, ParameterValue(0.25));
  EXPECT_EQ(Pack(*response), bytes);
}

TEST_F(PackedResponseTest, TheOutputsAreLaidOutAsDocumented) {
  auto response = NewResponse();
  Add(response.get(), "text", DataType::kBytes, {1}, "abcd");
  const auto number = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const std::string output = number(uint32_t{4}) + "text" + number(uint32_t{5}) + "BYTES" +
                             number(uint32_t{8}) + number(int64_t{1}) + number(uint64_t{4}) +
                             "abcd";
  EXPECT_EQ(Pack(*response),
            number(uint32_t{1}) + number(uint64_t{output.size()}) + output + number(uint32_t{0}));
}

TEST_F(PackedResponseTest, BytesThatAreNoResponseAreRefused) {
  const std::string good = Pack(*Full());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(UnpackResponse(good.substr(0, size), NewResponse().get()).ok()) << size;
  }
  EXPECT_FALSE(UnpackResponse(good + "x", NewResponse().get()).ok());
  // Whatever a byte is changed to, nothing outside the buffers is read or written. Sanitizers
  // check that.
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int change : {1, 0x7f, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      UnpackResponse(bad, NewResponse().get()).IgnoreError();
    }
  }
}

TEST_F(PackedResponseTest, OfAnotherModelItIsRefused) {
  const std::string bytes = Pack(*Full());
  const auto other = FakeModel::Make(ModelBuilder("o")
                                         .Output("other", DataType::kInt8, {1})
                                         .Output("text", DataType::kInt8, {1})
                                         .Output("none", DataType::kInt8, {1}));
  InferResponse response(nullptr, other, "", &allocator_, nullptr);
  EXPECT_EQ(UnpackResponse(bytes, &response),
            absl::InvalidArgumentError("unexpected inference output 'reshaped' for model 'o'"));
}

TEST_F(PackedResponseTest, WithoutMemoryOfTheCpuThereIsNoResponse) {
  const std::string bytes = Pack(*Full());
  allocator_.fail = true;
  EXPECT_EQ(UnpackResponse(bytes, NewResponse().get()), absl::UnavailableError("no memory"));
  allocator_.fail = false;
  allocator_.type = MemoryType::kGpu;
  EXPECT_FALSE(UnpackResponse(bytes, NewResponse().get()).ok());
  EXPECT_EQ(CheckPackable(*Full()),
            absl::InvalidArgumentError(
                "Only input buffers in CPU memory are allowed in cache currently"));
}

}  // namespace
}  // namespace nereid
