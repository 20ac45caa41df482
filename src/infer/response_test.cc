// SPDX-License-Identifier: Apache-2.0
#include "infer/response.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "infer/response_stream.h"
#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

// Hands out one static buffer and records the calls.
class NotingAllocator final : public OutputAllocator {
 public:
  absl::Status Start(void* userp) const override {
    ++starts;
    return start_status;
  }
  absl::Status Allocate(const char* name, void* userp, OutputBuffer* buffer) const override {
    if (!allocate_status.ok()) return allocate_status;
    asked.push_back(std::string(name) + ":" + std::to_string(buffer->byte_size));
    if (buffer->byte_size > 0) buffer->base = memory;
    buffer->place = {MemoryType::kCpuPinned, 0};
    return absl::OkStatus();
  }
  void Release(const OutputBuffer& buffer) const override { ++released; }

  mutable int starts = 0;
  mutable int released = 0;
  mutable std::vector<std::string> asked;
  mutable char memory[64] = {};
  absl::Status start_status;
  absl::Status allocate_status;
};

OutputSpec Spec(std::string name, Shape dims, std::optional<Shape> reshape = std::nullopt) {
  OutputSpec spec;
  spec.name = std::move(name);
  spec.data_type = DataType::kInt8;
  spec.dims = std::move(dims);
  spec.reshape = std::move(reshape);
  return spec;
}

class ResponseTest : public ::testing::Test {
 protected:
  std::unique_ptr<InferResponse> Make(ModelBuilder builder) {
    builder.Output(Spec("x", {4})).Output(Spec("y", {4}));
    return std::make_unique<InferResponse>(nullptr, FakeModel::Make(builder), "id", &allocator_,
                                           nullptr);
  }
  std::unique_ptr<InferResponse> Make() { return Make(ModelBuilder("m")); }

  NotingAllocator allocator_;
};

// ---- Lent bytes

TEST_F(ResponseTest, LentBytesAreGivenBackWithTheResponse) {
  const HeapOutputAllocator allocator(nullptr, /*lends=*/true);
  auto response = std::make_unique<InferResponse>(
      nullptr, FakeModel::Make(ModelBuilder("m").Output(Spec("x", {4}))), "id", &allocator,
      nullptr);
  const absl::StatusOr<ResponseOutput*> output = response->AddOutput("x", DataType::kInt8, {4});
  ASSERT_TRUE(output.ok());
  int releases = 0;
  const LentBytes lent{"abcd", 4, [](void* userp) { ++*static_cast<int*>(userp); }, &releases};
  ASSERT_TRUE((*output)->Lend(lent).ok());
  EXPECT_EQ((*output)->buffer().base, lent.base);
  EXPECT_TRUE((*output)->allocated());
  EXPECT_EQ((*output)->Lend(lent).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ((*output)->Allocate(4, {}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(releases, 0);
  response.reset();
  EXPECT_EQ(releases, 1);
}

TEST_F(ResponseTest, WhereNothingIsLentABufferCanBeHad) {
  const auto response = Make();
  const absl::StatusOr<ResponseOutput*> output = response->AddOutput("x", DataType::kInt8, {4});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ((*output)->Lend({"abcd", 4, [](void*) { FAIL(); }, nullptr}).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_FALSE((*output)->allocated());
  ASSERT_TRUE((*output)->Allocate(4, {}).ok());
  EXPECT_EQ((*output)->buffer().base, allocator_.memory);
}

// ---- Outputs

TEST_F(ResponseTest, AnOutputOfTheModelIsAdded) {
  const auto response = Make();
  const absl::StatusOr<ResponseOutput*> output = response->AddOutput("y", DataType::kInt8, {4});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ((*output)->name(), "y");
  EXPECT_EQ((*output)->data_type(), DataType::kInt8);
  EXPECT_EQ((*output)->shape(), (Shape{4}));
  EXPECT_FALSE((*output)->allocated());
}

TEST_F(ResponseTest, AnUnknownOutputIsRefused) {
  EXPECT_EQ(Make()->AddOutput("z", DataType::kInt8, {4}).status(),
            absl::InvalidArgumentError("unexpected inference output 'z' for model 'm'"));
}

TEST_F(ResponseTest, AnOutputIsAddedOnce) {
  const auto response = Make();
  ASSERT_TRUE(response->AddOutput("x", DataType::kInt8, {4}).ok());
  EXPECT_EQ(response->AddOutput("x", DataType::kInt8, {4}).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(ResponseTest, OutputsStayWhereTheyAreWhenMoreAreAdded) {
  ModelBuilder builder("m");
  for (int i = 0; i < 20; ++i) builder.Output(Spec("o" + std::to_string(i), {1}));
  const auto response = Make(builder);
  ResponseOutput* const first = *response->AddOutput("o0", DataType::kInt8, {1});
  for (int i = 1; i < 20; ++i) {
    ASSERT_TRUE(response->AddOutput("o" + std::to_string(i), DataType::kInt8, {1}).ok());
  }
  EXPECT_EQ(first, &response->outputs()[0]);
  EXPECT_EQ(first->name(), "o0");
}

// ---- Buffers

TEST_F(ResponseTest, ABufferIsAskedForOnceAndReleasedWithTheResponse) {
  auto response = Make();
  ResponseOutput* const output = *response->AddOutput("x", DataType::kInt8, {4});
  ASSERT_TRUE(output->Allocate(4, MemoryPlace{}).ok());
  EXPECT_TRUE(output->allocated());
  EXPECT_EQ(output->buffer().base, allocator_.memory);
  EXPECT_EQ(output->Allocate(4, MemoryPlace{}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(allocator_.asked, (std::vector<std::string>{"x:4"}));
  EXPECT_EQ(allocator_.released, 0);
  response.reset();
  EXPECT_EQ(allocator_.released, 1);
}

TEST_F(ResponseTest, AnEmptyBufferNeedsNoRelease) {
  auto response = Make();
  ResponseOutput* const output = *response->AddOutput("x", DataType::kInt8, {0});
  ASSERT_TRUE(output->Allocate(0, MemoryPlace{}).ok());
  EXPECT_TRUE(output->allocated());
  response.reset();
  EXPECT_EQ(allocator_.released, 0);
}

TEST_F(ResponseTest, AnOutputThatNeverGotABufferNeedsNoRelease) {
  allocator_.allocate_status = absl::UnavailableError("full");
  auto response = Make();
  ResponseOutput* const output = *response->AddOutput("x", DataType::kInt8, {4});
  EXPECT_EQ(output->Allocate(4, MemoryPlace{}), absl::UnavailableError("full"));
  EXPECT_FALSE(output->allocated());
  response.reset();
  EXPECT_EQ(allocator_.released, 0);
}

TEST_F(ResponseTest, AttributesDescribeTheBufferThatWasGiven) {
  const auto response = Make();
  ResponseOutput* const output = *response->AddOutput("x", DataType::kInt8, {4});
  ASSERT_TRUE(output->Allocate(4, MemoryPlace{}).ok());
  EXPECT_EQ(output->Attributes()->byte_size, 4u);
  EXPECT_EQ(output->Attributes()->memory_type, TRITONSERVER_MEMORY_CPU_PINNED);
}

TEST_F(ResponseTest, ClearOutputsReleasesBuffersAndForgetsParameters) {
  const auto response = Make();
  ASSERT_TRUE((*response->AddOutput("x", DataType::kInt8, {4}))->Allocate(4, {}).ok());
  response->AddParameter({"p", int64_t{1}});
  response->ClearOutputs();
  EXPECT_EQ(allocator_.released, 1);
  EXPECT_TRUE(response->outputs().empty());
  EXPECT_TRUE(response->parameters().empty());
}

TEST_F(ResponseTest, TheAllocatorHearsOfEveryNewResponse) {
  const auto model = FakeModel::Make(ModelBuilder("m"));
  ResponseTarget target;
  target.fn = [](InferResponse* response, uint32_t, const ResponseTarget&) { delete response; };
  target.allocator = &allocator_;
  allocator_.start_status = absl::InternalError("only logged");
  const auto stream = std::make_shared<ResponseStream>(ModelPass::Enter(model), "id", target);
  EXPECT_NE(stream->NewResponse(), nullptr);
  EXPECT_NE(stream->NewResponse(), nullptr);
  EXPECT_EQ(allocator_.starts, 2);
  stream->Abandon();
}

// ---- Reshape

struct ReshapeCase {
  const char* name;
  int32_t max_batch;
  Shape dims;
  Shape reshape;
  Shape from_backend;
  Shape to_client;
};

class ReshapeTest : public ::testing::TestWithParam<ReshapeCase> {};

TEST_P(ReshapeTest, TheClientSeesTheConfiguredDims) {
  const ReshapeCase& c = GetParam();
  const NotingAllocator allocator;
  ModelBuilder builder("m");
  builder.MaxBatch(c.max_batch).Output(Spec("r", c.dims, c.reshape));
  InferResponse response(nullptr, FakeModel::Make(builder), "id", &allocator, nullptr);
  const absl::StatusOr<ResponseOutput*> output =
      response.AddOutput("r", DataType::kInt8, c.from_backend);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ((*output)->shape(), c.to_client);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ReshapeTest,
    ::testing::Values(
        ReshapeCase{"fixed", 0, {4}, {2, 2}, {2, 2}, {4}},
        ReshapeCase{"fixed_batched", 8, {4}, {2, 2}, {3, 2, 2}, {3, 4}},
        ReshapeCase{"from_nothing", 8, {1}, {}, {3}, {3, 1}},
        ReshapeCase{"from_nothing_unbatched", 0, {1, 1}, {}, {}, {1, 1}},
        ReshapeCase{"one_variable", 0, {-1, 1}, {-1}, {7}, {7, 1}},
        ReshapeCase{"one_variable_batched", 8, {1, -1}, {-1}, {3, 7}, {3, 1, 7}},
        ReshapeCase{"variables_in_order", 0, {-1, 2, -1}, {1, -1, -1, 2}, {1, 5, 7, 2}, {5, 2, 7}},
        ReshapeCase{"fixed_before_variable", 8, {-1}, {2, 1, -1}, {3, 2, 1, 9}, {3, 9}}),
    [](const ::testing::TestParamInfo<ReshapeCase>& info) { return info.param.name; });

}  // namespace
}  // namespace nereid
