// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/tensor_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

class TensorIoTest : public ::testing::Test {
 protected:
  static BoundTensor Bound(TRITONSERVER_DataType type, Shape dims) {
    BoundTensor tensor;
    tensor.name = "T";
    tensor.type = type;
    tensor.element_size = TRITONSERVER_DataTypeByteSize(type);
    tensor.dims = std::move(dims);
    return tensor;
  }

  // Message of PrepareInput, "" when it passes.
  std::string Prepare(const BoundTensor& tensor, std::vector<int64_t> shape, std::string data,
                      PreparedInput* prepared) {
    request_.inputs.push_back(
        testing::MakeInput("T", tensor.type, std::move(shape), std::move(data)));
    const Error error = PrepareInput(tensor, &request_, prepared);
    return error.ok() ? "" : error.message();
  }

  static std::string Wire(const std::vector<std::string>& elements) {
    std::string wire;
    for (const std::string& element : elements) {
      std::string one(BytesWireSize(element), '\0');
      WriteBytes(element, one.data());
      wire += one;
    }
    return wire;
  }

  // The result of joining `parts`.
  RunInput Join(const BoundTensor& tensor, bool batching, int64_t rows,
                const std::vector<const PreparedInput*>& parts) {
    RunInput input;
    input.scratch = &scratch_;
    JoinInputs(tensor, batching, rows, parts, &input);
    return input;
  }

  static RunOutput Output(const BoundTensor& tensor, Shape shape, const char* data) {
    RunOutput output;
    output.tensor = &tensor;
    output.shape = std::move(shape);
    output.data = data;
    return output;
  }

  // The output of a run that returns its input.
  static RunOutput Echo(const RunInput& input) {
    RunOutput output = Output(*input.tensor, input.shape, nullptr);
    output.elements = input.elements;
    return output;
  }

  Scratch scratch_;
  TRITONBACKEND_Request request_;
};

TEST_F(TensorIoTest, ShapeSizeAndTypeAreChecked) {
  PreparedInput prepared;
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_INT16, {-1, 2});
  EXPECT_EQ(Prepare(tensor, {1, 2}, "abcd", &prepared), "");
  request_.inputs.clear();
  EXPECT_EQ(Prepare(tensor, {1, 3}, "abcdef", &prepared),
            "unexpected shape for input 'T': expected [-1,2], got [1,3]");
  request_.inputs.clear();
  EXPECT_THAT(Prepare(tensor, {1, 2}, "abc", &prepared), HasSubstr("needs 4 bytes, got 3"));
  request_.inputs[0].type = TRITONSERVER_TYPE_INT8;
  const Error type_error = PrepareInput(tensor, &request_, &prepared);
  ASSERT_FALSE(type_error.ok());
  EXPECT_THAT(type_error.message(), HasSubstr("expected INT16, got INT8"));
  request_.inputs.clear();
  EXPECT_FALSE(PrepareInput(tensor, &request_, &prepared).ok()) << "the input is missing";
}

TEST_F(TensorIoTest, ABatchIsOneTensor) {
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_UINT8, {-1, 2});
  PreparedInput first;
  PreparedInput second;
  ASSERT_EQ(Prepare(tensor, {1, 2}, "ab", &first), "");
  TRITONBACKEND_Request other;
  other.inputs.push_back(testing::MakeInput("T", TRITONSERVER_TYPE_UINT8, {2, 2}, "cdef"));
  ASSERT_TRUE(PrepareInput(tensor, &other, &second).ok());
  RunInput value = Join(tensor, true, 3, {&first, &second});
  EXPECT_EQ(value.shape, (Shape{3, 2}));
  EXPECT_EQ(std::string(value.Contiguous(1), 6), "abcdef");
  RunInput alone = Join(tensor, true, 1, {&first});
  EXPECT_EQ(alone.Contiguous(1), first.pieces[0].data) << "no copy";
}

TEST_F(TensorIoTest, ARaggedBatchIsOneDimension) {
  BoundTensor tensor = Bound(TRITONSERVER_TYPE_UINT8, {-1, -1, 2});
  tensor.ragged = true;
  PreparedInput first;
  PreparedInput second;
  ASSERT_EQ(Prepare(tensor, {1, 2, 2}, "abcd", &first), "");
  TRITONBACKEND_Request other;
  other.inputs.push_back(testing::MakeInput("T", TRITONSERVER_TYPE_UINT8, {2, 1, 2}, "efgh"));
  ASSERT_TRUE(PrepareInput(tensor, &other, &second).ok());
  RunInput value = Join(tensor, true, 3, {&first, &second});
  EXPECT_EQ(value.shape, Shape{8});
  EXPECT_EQ(std::string(value.Contiguous(1), 8), "abcdefgh");
  RunInput alone = Join(tensor, true, 1, {&first});
  EXPECT_EQ(alone.shape, Shape{4});
  EXPECT_EQ(alone.Contiguous(1), first.pieces[0].data) << "no copy";
}

TEST_F(TensorIoTest, RaggedStringsAreOneDimension) {
  BoundTensor tensor = Bound(TRITONSERVER_TYPE_BYTES, {-1, -1});
  tensor.ragged = true;
  PreparedInput prepared;
  ASSERT_EQ(Prepare(tensor, {1, 2}, Wire({"a", "bc"}), &prepared), "");
  const RunInput joined = Join(tensor, true, 2, {&prepared, &prepared});
  const RunOutput value = Echo(joined);
  EXPECT_EQ(value.shape, Shape{4});
  const Result<OutputSlicer> slicer = OutputSlicer::CreateScattered(value, 4);
  ASSERT_TRUE(slicer.ok());
  std::string part(slicer->SliceSize(1, 2), '\0');
  slicer->CopySlice(1, 2, part.data());
  EXPECT_EQ(part, Wire({"bc", "a"}));
}

TEST_F(TensorIoTest, AScatteredResultIsCutByElements) {
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_UINT8, {-1, 2});
  const char data[] = "abcdef";
  const RunOutput value = Output(tensor, {3, 2}, data);
  const Result<OutputSlicer> slicer = OutputSlicer::CreateScattered(value, 6);
  ASSERT_TRUE(slicer.ok());
  std::string part(slicer->SliceSize(1, 3), '\0');
  slicer->CopySlice(1, 3, part.data());
  EXPECT_EQ(part, "bcd");
  EXPECT_FALSE(OutputSlicer::CreateScattered(value, 5).ok());
  EXPECT_FALSE(OutputSlicer::CreateScattered(value, -6).ok());
}

TEST_F(TensorIoTest, AnOptionalInputMayBeLeftOut) {
  BoundTensor tensor = Bound(TRITONSERVER_TYPE_UINT8, {-1, 2});
  PreparedInput prepared;
  EXPECT_FALSE(PrepareInput(tensor, &request_, &prepared).ok());
  tensor.optional = true;
  EXPECT_TRUE(PrepareInput(tensor, &request_, &prepared).ok());
  EXPECT_FALSE(prepared.present);
  EXPECT_EQ(Prepare(tensor, {1, 2}, "ab", &prepared), "");
  EXPECT_TRUE(prepared.present);
}

TEST_F(TensorIoTest, StringsGoInAndComeOut) {
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_BYTES, {-1, 2});
  const std::string wire = Wire({"a", "", std::string("x\0y", 3), "long element"});
  PreparedInput prepared;
  ASSERT_EQ(Prepare(tensor, {2, 2}, wire, &prepared), "");
  const RunInput joined = Join(tensor, true, 2, {&prepared});
  const RunOutput value = Echo(joined);
  const Result<OutputSlicer> slicer = OutputSlicer::Create(value, true, 2);
  ASSERT_TRUE(slicer.ok());
  EXPECT_EQ(slicer->SliceShape(1), (Shape{1, 2}));
  std::string all(slicer->SliceSize(0, 2), '\0');
  slicer->CopySlice(0, 2, all.data());
  EXPECT_EQ(all, wire);
  std::string second(slicer->SliceSize(1, 1), '\0');
  slicer->CopySlice(1, 1, second.data());
  EXPECT_EQ(second, Wire({std::string("x\0y", 3), "long element"}));
}

TEST_F(TensorIoTest, AStringElementMayLieAcrossPieces) {
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_BYTES, {-1});
  const std::string wire = Wire({"abcdef"});
  request_.inputs.push_back(
      testing::MakeInput("T", TRITONSERVER_TYPE_BYTES, {1}, wire.substr(0, 6)));
  request_.inputs[0].buffers.push_back(wire.substr(6));
  PreparedInput prepared;
  ASSERT_TRUE(PrepareInput(tensor, &request_, &prepared).ok());
  EXPECT_EQ(prepared.elements, std::vector<std::string_view>{"abcdef"});
}

TEST_F(TensorIoTest, SlicesAreRows) {
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_UINT8, {-1, 2});
  const char data[] = "abcdef";
  const RunOutput value = Output(tensor, {3, 2}, data);
  const Result<OutputSlicer> slicer = OutputSlicer::Create(value, true, 3);
  ASSERT_TRUE(slicer.ok());
  EXPECT_EQ(slicer->SliceSize(1, 2), 4u);
  std::string slice(4, '\0');
  slicer->CopySlice(1, 2, slice.data());
  EXPECT_EQ(slice, "cdef");
}

TEST_F(TensorIoTest, AResultWithOtherRowsIsAnError) {
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_UINT8, {-1, 2});
  const char data[] = "abcd";
  const RunOutput value = Output(tensor, {2, 2}, data);
  Result<OutputSlicer> slicer = OutputSlicer::Create(value, true, 3);
  ASSERT_FALSE(slicer.ok());
  EXPECT_THAT(slicer.error().message(),
              HasSubstr("has shape [2,2] for a batch of 3 rows; if its first dimension is not the "
                        "batch, set max_batch_size: 0 in the configuration of the model"));
  EXPECT_TRUE(OutputSlicer::Create(value, false, 1).ok());
}

TEST_F(TensorIoTest, AnyShapeIsTakenWhereTheModelGivesNone) {
  BoundTensor tensor = Bound(TRITONSERVER_TYPE_UINT8, {});
  tensor.any_shape = true;
  PreparedInput prepared;
  ASSERT_EQ(Prepare(tensor, {2, 3}, "abcdef", &prepared), "");
  EXPECT_EQ(Join(tensor, true, 2, {&prepared}).shape, (Shape{2, 3}));
  request_.inputs.clear();
  EXPECT_THAT(Prepare(tensor, {-2, 3}, "abcdef", &prepared), HasSubstr("unexpected shape"));
}

TEST_F(TensorIoTest, AScalarIsOneElementOfOneDimension) {
  const BoundTensor tensor = Bound(TRITONSERVER_TYPE_FP32, {});
  PreparedInput prepared;
  ASSERT_EQ(Prepare(tensor, {1}, std::string(4, '\0'), &prepared), "");
  RunInput joined = Join(tensor, false, 1, {&prepared});
  EXPECT_EQ(joined.shape, Shape{});
  const RunOutput value = Output(tensor, joined.shape, joined.Contiguous(4));
  const Result<OutputSlicer> slicer = OutputSlicer::Create(value, false, 1);
  ASSERT_TRUE(slicer.ok());
  EXPECT_EQ(slicer->SliceShape(1), Shape{1});
  EXPECT_EQ(slicer->SliceSize(0, 1), 4u);
}

}  // namespace
}  // namespace nereid_backend
