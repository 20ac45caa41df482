// SPDX-License-Identifier: Apache-2.0
#include "infer/request_validator.h"

#include <gtest/gtest.h>

#include <string>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

constexpr char kBatchNote[] =
    "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be "
    "prepended to each input shape. If you want to specify the full shape including the batch dim "
    "in your input dims config, try setting max_batch_size to zero. See the model configuration "
    "docs for more info on max_batch_size.";

InputSpec Spec(std::string name, DataType type, Shape dims) {
  InputSpec spec;
  spec.name = std::move(name);
  spec.data_type = type;
  spec.dims = std::move(dims);
  return spec;
}

// Two fixed FP32 inputs and one output.
ModelBuilder Pair(int32_t max_batch = 0) {
  ModelBuilder builder("m");
  builder.MaxBatch(max_batch)
      .Input("a", DataType::kFp32, {4})
      .Input("b", DataType::kFp32, {4})
      .Output("out", DataType::kFp32, {4});
  return builder;
}

ModelBuilder One(DataType type, Shape dims, int32_t max_batch = 0) {
  ModelBuilder builder("m");
  builder.MaxBatch(max_batch).Input("a", type, std::move(dims)).Output("out", type, {-1});
  return builder;
}

ModelBuilder OneSpec(InputSpec spec, int32_t max_batch = 0) {
  ModelBuilder builder("m");
  builder.MaxBatch(max_batch).Input(std::move(spec));
  return builder;
}

// A request with id "7", so that every error begins alike.
class Request : public TestRequest {
 public:
  explicit Request(const ModelBuilder& builder) : TestRequest(FakeModel::Make(builder)) {
    get()->set_id("7");
  }
  absl::Status Prepare() { return RequestValidator::Prepare(get()); }
};

void ExpectRefused(Request& request, const std::string& message) {
  const absl::Status status = request.Prepare();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "[request id: 7] " + message);
}

// Of a text without the request's id.
void ExpectRefusedWithoutId(Request& request, const std::string& message) {
  EXPECT_EQ(request.Prepare(), absl::InvalidArgumentError(message));
}

void ExpectAccepted(Request& request) {
  const absl::Status status = request.Prepare();
  EXPECT_TRUE(status.ok()) << status;
}

std::string Strings(std::initializer_list<const char*> texts) {
  std::string bytes;
  for (const char* text : texts) bytes += TestRequest::StringElement(text);
  return bytes;
}

// ---- What is valid

TEST(RequestValidatorTest, WithoutBatchingTheWholeShapeBelongsToTheTensor) {
  Request request(Pair());
  request.Input("a", DataType::kFp32, {4});
  request.Input("b", DataType::kFp32, {4});
  ExpectAccepted(request);
  EXPECT_EQ(request->batch_size(), 0u);
  EXPECT_EQ(request->units_in_batch(), 1u);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{4}));
}

TEST(RequestValidatorTest, WithBatchingTheFirstDimensionIsTheBatch) {
  Request request(Pair(8));
  request.Input("b", DataType::kFp32, {3, 4});
  request.Input("a", DataType::kFp32, {3, 4});
  ExpectAccepted(request);
  EXPECT_EQ(request->batch_size(), 3u);
  EXPECT_EQ(request->units_in_batch(), 3u);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{3, 4}));
}

TEST(RequestValidatorTest, TheLargestBatchIsAccepted) {
  Request request(Pair(8));
  request.Input("a", DataType::kFp32, {8, 4});
  request.Input("b", DataType::kFp32, {8, 4});
  ExpectAccepted(request);
}

TEST(RequestValidatorTest, AnInputInPiecesIsJoined) {
  Request request(One(DataType::kInt8, {4}));
  InferInput* const input = request.Input("a", DataType::kInt8, {4}, "ab");
  const std::string more = "cd";
  input->AppendBuffer({more.data(), more.size(), MemoryPlace{}});
  ExpectAccepted(request);
  ASSERT_EQ(request->FindInput("a")->buffers().size(), 1u);
  const InputBuffer& joined = request->FindInput("a")->buffers()[0];
  EXPECT_EQ(std::string(static_cast<const char*>(joined.base), joined.byte_size), "abcd");
}

TEST(RequestValidatorTest, PiecesAreLeftToABackendThatReadsThem) {
  const auto model = FakeModel::Make(
      ModelBuilder().Input("a", DataType::kInt8, {4}).Input("text", DataType::kBytes, {1}));
  model->MayReadPieces();
  TestRequest request(model);
  request.Input("a", DataType::kInt8, {4}, "ab")->AppendBuffer({"cd", 2, MemoryPlace{}});
  request.Input("text", DataType::kBytes, {1}, std::string("\1\0\0", 3))
      ->AppendBuffer({"\0x", 2, MemoryPlace{}});
  EXPECT_EQ(RequestValidator::Prepare(request.get()), absl::OkStatus());
  EXPECT_EQ(request->FindInput("a")->buffers().size(), 2u);
  EXPECT_EQ(request->FindInput("text")->buffers().size(), 1u) << "elements are never split";
}

TEST(RequestValidatorTest, AnEmptyTensorNeedsNoData) {
  Request request(One(DataType::kFp32, {-1}));
  request.Input("a", DataType::kFp32, {0}, "");
  ExpectAccepted(request);
}

TEST(RequestValidatorTest, MayBePreparedAgain) {
  Request request(Pair(8));
  request.Input("a", DataType::kFp32, {2, 4});
  request.Input("b", DataType::kFp32, {2, 4});
  ExpectAccepted(request);
  ExpectAccepted(request);
  EXPECT_EQ(request->batch_size(), 2u);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{2, 4}));
}

TEST(RequestValidatorTest, ARequestWithoutIdSaysSo) {
  Request request(Pair());
  request->set_id("");
  EXPECT_EQ(request.Prepare().message().substr(0, 28), "[request id: <id_unknown>] e");
}

// ---- Requested outputs

TEST(RequestValidatorTest, AnUnknownOutputIsRefused) {
  Request request(Pair());
  request.Input("a", DataType::kFp32, {4});
  request.Input("b", DataType::kFp32, {4});
  ASSERT_TRUE(request->AddRequestedOutput("out").ok());
  ExpectAccepted(request);
  ASSERT_TRUE(request->AddRequestedOutput("no").ok());
  ExpectRefusedWithoutId(request, "unexpected inference output 'no' for model 'm'");
}

TEST(RequestValidatorTest, OutputsAreLookedAtBeforeInputs) {
  Request request(Pair());
  ASSERT_TRUE(request->AddRequestedOutput("no").ok());
  ExpectRefusedWithoutId(request, "unexpected inference output 'no' for model 'm'");
}

// ---- Number of inputs

TEST(RequestValidatorTest, TooFewInputs) {
  Request request(Pair());
  request.Input("a", DataType::kFp32, {4});
  ExpectRefused(request,
                "expected 2 inputs but got 1 inputs for model 'm'. Got input(s) ['a'], but missing "
                "required input(s) ['b']. Please provide all required input(s).");
}

TEST(RequestValidatorTest, NoInputs) {
  Request request(Pair());
  ExpectRefused(request,
                "expected 2 inputs but got 0 inputs for model 'm'. Got input(s) [], but missing "
                "required input(s) ['a','b']. Please provide all required input(s).");
}

TEST(RequestValidatorTest, TooManyInputs) {
  Request request(Pair());
  for (const char* name : {"a", "b", "c"}) request.Input(name, DataType::kFp32, {4});
  ExpectRefused(request,
                "expected 2 inputs but got 3 inputs for model 'm'. Got input(s) ['a','b','c'], but "
                "missing required input(s) []. Please provide all required input(s).");
}

// The 16 names 'i0' to 'i15', as the error lists them.
std::string Sixteen() {
  std::string list = "'i0'";
  for (int i = 1; i < 16; ++i) list += ",'i" + std::to_string(i) + "'";
  return list;
}

TEST(RequestValidatorTest, OfFarTooManyInputsSomeAreNamed) {
  Request request(Pair());
  for (int i = 0; i < 17; ++i) {
    request.Input("i" + std::to_string(i), DataType::kFp32, {4});
  }
  ExpectRefused(request, "expected 2 inputs but got 17 inputs for model 'm'. Got input(s) [" +
                             Sixteen() + "] and 1 more, but missing required input(s) ['a','b']. " +
                             "Please provide all required input(s).");
}

TEST(RequestValidatorTest, InputsThatWereOnlyCounted) {
  Request request(Pair());
  for (int i = 0; i < 16; ++i) {
    request.Input("i" + std::to_string(i), DataType::kFp32, {4});
  }
  request->set_unkept_inputs(99984);
  ExpectRefused(request, "expected 2 inputs but got 100000 inputs for model 'm'. Got input(s) [" +
                             Sixteen() + "] and 99984 more. Please provide all required input(s).");
  request->RemoveAllInputs();
  request.Input("a", DataType::kFp32, {4});
  request.Input("b", DataType::kFp32, {4});
  ExpectAccepted(request);
}

// More inputs than the model has are not compared with each other until some are removed again.
TEST(RequestValidatorTest, ARepeatedInputThatWasOneOfTooMany) {
  Request request(Pair());
  for (const char* name : {"x", "y", "z", "a", "a"}) request.Input(name, DataType::kFp32, {4});
  for (const char* name : {"x", "y", "z"}) ASSERT_TRUE(request->RemoveInput(name).ok());
  ExpectRefused(request, "input 'a' already exists in request");
  ASSERT_TRUE(request->RemoveInput("a").ok());
  request.Input("b", DataType::kFp32, {4});
  ExpectAccepted(request);
}

TEST(RequestValidatorTest, ARepeatedOutputThatWasOneOfTooMany) {
  Request request(Pair());
  request.Input("a", DataType::kFp32, {4});
  request.Input("b", DataType::kFp32, {4});
  for (const char* name : {"x", "y", "out", "out"}) {
    ASSERT_TRUE(request->AddRequestedOutput(name).ok());
  }
  for (const char* name : {"x", "y"}) request->RemoveRequestedOutput(name);
  ExpectRefused(request, "output 'out' already exists in request");
  request->RemoveAllRequestedOutputs();
  ASSERT_TRUE(request->AddRequestedOutput("out").ok());
  ExpectAccepted(request);
}

class OptionalInputTest : public ::testing::Test {
 protected:
  static ModelBuilder Model() {
    InputSpec optional = Spec("o", DataType::kFp32, {4});
    optional.optional = true;
    ModelBuilder builder = Pair();
    builder.Input(optional);
    return builder;
  }
};

TEST_F(OptionalInputTest, MayBeGivenOrNot) {
  Request request(Model());
  request.Input("a", DataType::kFp32, {4});
  request.Input("b", DataType::kFp32, {4});
  ExpectAccepted(request);
  request.Input("o", DataType::kFp32, {4});
  ExpectAccepted(request);
}

TEST_F(OptionalInputTest, TheTextGivesARange) {
  Request request(Model());
  request.Input("o", DataType::kFp32, {4});
  ExpectRefused(request,
                "expected number of inputs between 2 and 3 but got 1 inputs for model 'm'. Got "
                "input(s) ['o'], but missing required input(s) ['a','b']. Please provide all "
                "required input(s).");
}

TEST_F(OptionalInputTest, DoesNotMakeUpForARequiredOne) {
  Request request(Model());
  request.Input("a", DataType::kFp32, {4});
  request.Input("o", DataType::kFp32, {4});
  const absl::Status status = request.Prepare();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("missing required input(s) ['b']"), std::string::npos) << status;
}

// ---- Batch size

TEST(RequestValidatorTest, NoBatchDimension) {
  Request request(Pair(8));
  request.Input("a", DataType::kFp32, {});
  request.Input("b", DataType::kFp32, {1, 4});
  ExpectRefused(request, "input 'a' has no shape but model requires batch dimension for 'm'");
}

TEST(RequestValidatorTest, BatchesThatDiffer) {
  Request request(Pair(8));
  request.Input("a", DataType::kFp32, {1, 4});
  request.Input("b", DataType::kFp32, {2, 4});
  ExpectRefused(request, "input 'b' batch size does not match other inputs for 'm'");
}

TEST(RequestValidatorTest, BatchTooLarge) {
  Request request(Pair(8));
  request.Input("a", DataType::kFp32, {9, 4});
  request.Input("b", DataType::kFp32, {9, 4});
  ExpectRefused(request, "inference request batch-size must be <= 8 for 'm'");
}

TEST(RequestValidatorTest, AShapeTensorHasNoBatchDimension) {
  InputSpec sizes = Spec("sizes", DataType::kInt32, {2});
  sizes.is_shape_tensor = true;
  ModelBuilder builder = Pair(8);
  builder.Input(sizes);
  Request request(builder);
  request.Input("sizes", DataType::kInt32, {2});
  request.Input("a", DataType::kFp32, {3, 4});
  request.Input("b", DataType::kFp32, {3, 4});
  ExpectAccepted(request);
  EXPECT_EQ(request->batch_size(), 3u);
  EXPECT_EQ(request->FindInput("sizes")->shape(), (Shape{2}));
}

// ---- Each input

TEST(RequestValidatorTest, AnUnknownInput) {
  Request request(Pair());
  request.Input("a", DataType::kFp32, {4});
  request.Input("x", DataType::kFp32, {4});
  ExpectRefusedWithoutId(request, "unexpected inference input 'x' for model 'm'");
}

TEST(RequestValidatorTest, AnotherDataType) {
  Request request(Pair());
  request.Input("a", DataType::kFp32, {4});
  request.Input("b", DataType::kInt32, {4});
  ExpectRefused(request, "inference input 'b' data-type is 'INT32', but model 'm' expects 'FP32'");
}

TEST(RequestValidatorTest, ANegativeDimension) {
  Request request(One(DataType::kFp32, {-1, 2}));
  request.Input("a", DataType::kFp32, {-1, 2}, "");
  ExpectRefused(request,
                "All input dimensions should be specified for input 'a' for model 'm', got [-1,2]");
}

TEST(RequestValidatorTest, ANegativeBatchDimension) {
  Request request(One(DataType::kFp32, {2}, 8));
  request.Input("a", DataType::kFp32, {-5, 2}, "");
  ExpectRefused(request,
                "All input dimensions should be specified for input 'a' for model 'm', got [-5,2]");
}

TEST(RequestValidatorTest, AShapeThatDoesNotFitWithoutBatching) {
  Request request(One(DataType::kFp32, {-1, 16}));
  request.Input("a", DataType::kFp32, {1, 15});
  ExpectRefused(request,
                "unexpected shape for input 'a' for model 'm'. Expected [-1,16], got [1,15]. ");
}

TEST(RequestValidatorTest, AShapeThatDoesNotFitWithBatching) {
  Request request(One(DataType::kFp32, {16}, 8));
  request.Input("a", DataType::kFp32, {2, 15});
  ExpectRefused(request,
                std::string("unexpected shape for input 'a' for model 'm'. Expected [-1,16], got "
                            "[2,15]. ") +
                    kBatchNote);
}

TEST(RequestValidatorTest, ARankThatDoesNotFit) {
  Request request(One(DataType::kFp32, {16}, 8));
  request.Input("a", DataType::kFp32, {8});
  ExpectRefused(request, std::string("unexpected shape for input 'a' for model 'm'. Expected "
                                     "[-1,16], got [8]. ") +
                             kBatchNote);
}

TEST(RequestValidatorTest, TooFewBytes) {
  Request request(One(DataType::kFp32, {4}));
  request.Input("a", DataType::kFp32, {4}, std::string(15, '\0'));
  ExpectRefused(request,
                "input byte size mismatch for input 'a' for model 'm'. Expected 16, got 15");
}

TEST(RequestValidatorTest, TooManyBytes) {
  Request request(One(DataType::kInt64, {2}, 8));
  request.Input("a", DataType::kInt64, {3, 2}, std::string(49, '\0'));
  ExpectRefused(request,
                "input byte size mismatch for input 'a' for model 'm'. Expected 48, got 49");
}

TEST(RequestValidatorTest, AShapeWhoseBytesOverflowIsRefused) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  Request request(One(DataType::kFp32, {-1}));
  request.Input("a", DataType::kFp32, {kHuge}, "");
  EXPECT_EQ(request.Prepare().code(), absl::StatusCode::kInvalidArgument);
  Request strings(One(DataType::kBytes, {-1, -1}));
  strings.Input("a", DataType::kBytes, {kHuge, 4}, "");
  EXPECT_EQ(strings.Prepare().code(), absl::StatusCode::kInvalidArgument);
}

// ---- Reshape

TEST(RequestValidatorTest, AReshapeReplacesTheWorkingShape) {
  InputSpec spec = Spec("a", DataType::kFp32, {4});
  spec.reshape = Shape{2, 2};
  Request request(OneSpec(spec, 8));
  request.Input("a", DataType::kFp32, {3, 4});
  ExpectAccepted(request);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(request->FindInput("a")->sent_shape(), (Shape{3, 4}));
}

TEST(RequestValidatorTest, AReshapeToNothingLeavesTheBatch) {
  InputSpec spec = Spec("a", DataType::kFp32, {1});
  spec.reshape.emplace();
  Request request(OneSpec(spec, 8));
  request.Input("a", DataType::kFp32, {3, 1});
  ExpectAccepted(request);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{3}));
}

TEST(RequestValidatorTest, VariableDimensionsOfAReshapeTakeTheirValuesInOrder) {
  InputSpec spec = Spec("a", DataType::kInt8, {-1, 2, -1});
  spec.reshape = Shape{1, -1, -1, 2};
  Request request(OneSpec(spec));
  request.Input("a", DataType::kInt8, {5, 2, 7});
  ExpectAccepted(request);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{1, 5, 7, 2}));
}

// ---- BYTES

TEST(RequestValidatorTest, StringsAreCounted) {
  Request request(One(DataType::kBytes, {3}));
  request.Input("a", DataType::kBytes, {3}, Strings({"one", "", "three"}));
  ExpectAccepted(request);
}

TEST(RequestValidatorTest, StringsOfABatchAreCountedOverTheBatch) {
  Request request(One(DataType::kBytes, {2}, 8));
  request.Input("a", DataType::kBytes, {2, 2}, Strings({"a", "b", "c", "d"}));
  ExpectAccepted(request);
}

TEST(RequestValidatorTest, ALengthThatIsCutOff) {
  Request request(One(DataType::kBytes, {2}));
  request.Input("a", DataType::kBytes, {2}, Strings({"one"}) + "abc");
  ExpectRefused(request,
                "incomplete string length indicator for inference input 'a' for model 'm', "
                "expecting 4 bytes but only 3 bytes available. Please make sure the string length "
                "indicator is in one buffer.");
}

TEST(RequestValidatorTest, AStringThatIsCutOff) {
  std::string bytes = Strings({"one"});
  bytes.pop_back();
  Request request(One(DataType::kBytes, {1}));
  request.Input("a", DataType::kBytes, {1}, bytes);
  ExpectRefused(request,
                "incomplete string data for inference input 'a' for model 'm', expecting string of "
                "length 3 but only 2 bytes available");
}

TEST(RequestValidatorTest, TooManyStrings) {
  Request request(One(DataType::kBytes, {1}));
  request.Input("a", DataType::kBytes, {1}, Strings({"a", "b"}));
  ExpectRefused(request,
                "unexpected number of string elements 2 for inference input 'a' for model 'm', "
                "expecting 1");
}

TEST(RequestValidatorTest, TooFewStrings) {
  Request request(One(DataType::kBytes, {3}));
  request.Input("a", DataType::kBytes, {3}, Strings({"a", "b"}));
  ExpectRefused(request, "expected 3 string elements for inference input 'a' for model 'm', got 2");
}

TEST(RequestValidatorTest, NoStringsAtAll) {
  Request request(One(DataType::kBytes, {1}));
  request.Input("a", DataType::kBytes, {1}, "");
  ExpectRefused(request, "expected 1 string elements for inference input 'a' for model 'm', got 0");
}

TEST(RequestValidatorTest, StringsOnAGpuAreNotLookedAt) {
  Request request(One(DataType::kBytes, {1}));
  absl::StatusOr<InferInput*> input = request->AddInput("a", DataType::kBytes, {1});
  ASSERT_TRUE(input.ok());
  // The address is not readable, because the validator must not read GPU memory.
  (*input)->AppendBuffer({reinterpret_cast<const void*>(16), 100, {MemoryType::kGpu, 0}});
  ExpectAccepted(request);
}

TEST(RequestValidatorTest, StringsInSeveralGpuPieces) {
  Request request(One(DataType::kBytes, {1}));
  absl::StatusOr<InferInput*> input = request->AddInput("a", DataType::kBytes, {1});
  ASSERT_TRUE(input.ok());
  for (int i = 0; i < 2; ++i) {
    (*input)->AppendBuffer({reinterpret_cast<const void*>(16), 100, {MemoryType::kGpu, 0}});
  }
  ExpectRefused(request, "expected 1 buffers for inference input 'a' for model 'm', got 2");
}

// ---- Raw input

class RawInputTest : public ::testing::Test {
 protected:
  static void AddRaw(Request& request, const std::string& bytes) {
    absl::StatusOr<InferInput*> input = request->AddRawInput("raw");
    ASSERT_TRUE(input.ok());
    (*input)->AppendBuffer({bytes.data(), bytes.size(), MemoryPlace{}});
  }
  const std::string twelve_ = std::string(12, 'x');
};

TEST_F(RawInputTest, TakesNameTypeAndShapeFromTheModel) {
  Request request(One(DataType::kInt32, {3}));
  AddRaw(request, twelve_);
  ExpectAccepted(request);
  ASSERT_NE(request->FindInput("a"), nullptr);
  EXPECT_EQ(request->FindInput("a")->data_type(), DataType::kInt32);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{3}));
}

TEST_F(RawInputTest, ABatchedModelGetsABatchOfOne) {
  Request request(One(DataType::kInt32, {3}, 8));
  AddRaw(request, twelve_);
  ExpectAccepted(request);
  EXPECT_EQ(request->batch_size(), 1u);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{1, 3}));
}

TEST_F(RawInputTest, OneVariableDimensionFollowsFromTheBytes) {
  Request request(One(DataType::kInt16, {2, -1}, 8));
  AddRaw(request, twelve_);
  ExpectAccepted(request);
  EXPECT_EQ(request->FindInput("a")->shape(), (Shape{1, 2, 3}));
}

TEST_F(RawInputTest, BytesThatDoNotFillTheDimensionAreRefused) {
  Request request(One(DataType::kInt64, {-1}));
  AddRaw(request, twelve_);
  ExpectRefused(request,
                "input byte size mismatch for input 'a' for model 'm'. Expected 8, got 12");
}

TEST_F(RawInputTest, MoreThanOneVariableDimension) {
  Request request(One(DataType::kInt32, {-1, -1}));
  AddRaw(request, twelve_);
  ExpectRefused(request,
                "The shape of the raw input 'a' can not be deduced because there are more than one "
                "variable-sized dimension");
}

TEST_F(RawInputTest, TheModelHasSeveralInputs) {
  Request request(Pair());
  AddRaw(request, twelve_);
  ExpectRefused(request,
                "Raw request must only have 1 input (found 1) to be deduced but got 2 inputs in "
                "'m' model configuration");
}

TEST_F(RawInputTest, ASecondInputCannotJoin) {
  Request request(One(DataType::kInt32, {3}));
  AddRaw(request, twelve_);
  EXPECT_EQ(request->AddRawInput("other").status().message(),
            "[request id: 7] raw input 'other' can't be added to request with other inputs");
  ASSERT_TRUE(request->AddInput("b", DataType::kInt32, {3}).ok());
  ExpectRefused(request,
                "Raw request must only have 1 input (found 2) to be deduced but got 1 inputs in "
                "'m' model configuration");
}

TEST_F(RawInputTest, AStringBecomesOneElement) {
  for (const Shape& dims : {Shape{1}, Shape{-1}}) {
    Request request(One(DataType::kBytes, dims));
    const std::string body = "hello";
    AddRaw(request, body);
    ExpectAccepted(request);
    const InputBuffer& buffer = request->FindInput("a")->buffers()[0];
    EXPECT_EQ(std::string(static_cast<const char*>(buffer.base), buffer.byte_size),
              TestRequest::StringElement("hello"));
  }
}

TEST_F(RawInputTest, AnEmptyStringIsAnElementToo) {
  Request request(One(DataType::kBytes, {1}));
  AddRaw(request, std::string());
  ExpectAccepted(request);
  EXPECT_EQ(request->FindInput("a")->byte_size(), 4u);
}

TEST_F(RawInputTest, AStringInPiecesBecomesOneElement) {
  Request request(One(DataType::kBytes, {1}));
  absl::StatusOr<InferInput*> input = request->AddRawInput("raw");
  ASSERT_TRUE(input.ok());
  const std::string first = "hel", second = "lo";
  (*input)->AppendBuffer({first.data(), first.size(), MemoryPlace{}});
  (*input)->AppendBuffer({second.data(), second.size(), MemoryPlace{}});
  ExpectAccepted(request);
  const InputBuffer& buffer = request->FindInput("a")->buffers()[0];
  EXPECT_EQ(std::string(static_cast<const char*>(buffer.base), buffer.byte_size),
            TestRequest::StringElement("hello"));
}

TEST_F(RawInputTest, AModelOfSeveralStringsCannotTakeOne) {
  for (const Shape& dims : {Shape{2}, Shape{1, 1}, Shape{}}) {
    Request request(One(DataType::kBytes, dims));
    AddRaw(request, twelve_);
    ExpectRefused(request, "For BYTE datatype raw input 'a', the model must have input shape [1]");
  }
}

TEST_F(RawInputTest, DataForAHostPolicyIsRefused) {
  Request request(One(DataType::kBytes, {1}));
  absl::StatusOr<InferInput*> input = request->AddRawInput("raw");
  ASSERT_TRUE(input.ok());
  (*input)->AppendBuffer({twelve_.data(), twelve_.size(), MemoryPlace{}});
  (*input)->AppendBufferFor("near", {twelve_.data(), twelve_.size(), MemoryPlace{}});
  ExpectRefused(request,
                "Raw input with data associated with a host policy setting is not currently "
                "supported");
}

TEST(CorrelationIdTest, IsOfTheKindThatItsControlTensorTakes) {
  const auto prepare = [](DataType control_type, CorrelationId id) {
    CompiledModel model = Pair().Build();
    SequenceControl control;
    control.input = "CORRID";
    control.kind = SequenceControl::Kind::kCorrelationId;
    control.data_type = control_type;
    model.sequence.controls = {control};
    TestRequest request(std::make_shared<FakeModel>(std::move(model)));
    request->set_id("7");
    request->set_correlation_id(std::move(id));
    request.Input("a", DataType::kFp32, {4});
    request.Input("b", DataType::kFp32, {4});
    return RequestValidator::Prepare(request.get());
  };
  const CorrelationId number(5), text(std::string("5"));
  EXPECT_EQ(prepare(DataType::kInt32, number), absl::OkStatus());
  EXPECT_EQ(prepare(DataType::kBytes, text), absl::OkStatus());
  EXPECT_EQ(prepare(DataType::kBytes, CorrelationId()), absl::OkStatus());
  EXPECT_EQ(prepare(DataType::kInt32, text),
            absl::InvalidArgumentError("[request id: 7] sequence batching control 'CORRID' "
                                       "data-type is 'BYTES', but model 'm' expects 'INT32'"));
  EXPECT_EQ(prepare(DataType::kBytes, number),
            absl::InvalidArgumentError("[request id: 7] sequence batching control 'CORRID' "
                                       "data-type is 'UINT64', but model 'm' expects 'BYTES'"));
}

}  // namespace
}  // namespace nereid
