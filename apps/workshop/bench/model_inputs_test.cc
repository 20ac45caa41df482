// SPDX-License-Identifier: Apache-2.0
#include "bench/model_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "bench/data_file.h"
#include "bench/tensor_file.h"

namespace nereid::bench {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::string_literals::operator""s;

// Batches of at most 8 unless `max_batch_size` says something else.
ModelDescription Model(DataType type, std::vector<int64_t> shape,
                       std::optional<int64_t> max_batch_size = 8) {
  ModelDescription model;
  model.name = "m";
  model.inputs = {{"A", type, std::move(shape)}};
  model.max_batch_size = max_batch_size;
  return model;
}

template <typename T>
std::vector<T> Values(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string TemporaryFile(const std::string& content) {
  const std::string name = testing::TempDir() + "model_inputs_test.file";
  std::ofstream(name, std::ios::binary) << content;
  return name;
}

std::string Npy(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header + data;
}

std::string Refused(const ModelDescription& model, const InputOptions& options) {
  return std::string(MakeInputs(model, options).status().message());
}

TEST(ShapeTest, TheBatchComesFirst) {
  InputOptions options;
  options.batch_size = 2;
  EXPECT_THAT(MakeInputs(Model(DataType::kFp32, {-1, 3}), options)->at(0)[0].shape,
              ElementsAre(2, 3));
  options.shapes["A"] = {3};
  EXPECT_THAT(MakeInputs(Model(DataType::kFp32, {-1, -1}), options)->at(0)[0].shape,
              ElementsAre(2, 3));
  options.shapes["A"] = {4, 3};
  EXPECT_THAT(MakeInputs(Model(DataType::kFp32, {-1, -1}), options)->at(0)[0].shape,
              ElementsAre(4, 3))
      << "the whole shape is given";
}

TEST(ShapeTest, WithoutAConfigurationAFirstDimensionOfAnySizeIsTheBatch) {
  EXPECT_THAT(MakeInputs(Model(DataType::kFp32, {-1, 3}, std::nullopt), {})->at(0)[0].shape,
              ElementsAre(1, 3));
}

TEST(ShapeTest, WhatIsUnknownHasToBeGiven) {
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1}, 0), {}), HasSubstr("--shape=A:DIM"));
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1, -1}), {}), HasSubstr("--shape=A:DIM"));
  InputOptions options;
  options.shapes["A"] = {1, 2, 3};
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1, -1}), options), HasSubstr("has 3 dimensions"));
  options.shapes = {{"B", {1}}};
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1, 1}), options), HasSubstr("has A"));
}

TEST(ShapeTest, SizesAreLimited) {
  InputOptions options;
  options.batch_size = 9;
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1, 3}), options), HasSubstr("at most 8"));
  EXPECT_THAT(Refused(Model(DataType::kFp32, {3}, 0), options), HasSubstr("no batch dimension"));
  options.batch_size = 1;
  options.shapes["A"] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1, -1, -1}), options), HasSubstr("is larger than"));
}

TEST(FillTest, RandomValuesAreSmallAndOfTheSeed) {
  InputOptions options;
  options.shapes["A"] = {100};
  const auto bytes_of = [&](DataType type) {
    return MakeInputs(Model(type, {-1}, 0), options)->at(0)[0].bytes;
  };
  EXPECT_THAT(Values<float>(bytes_of(DataType::kFp32)),
              Each(testing::AllOf(testing::Ge(0), testing::Lt(1))));
  EXPECT_THAT(Values<int64_t>(bytes_of(DataType::kInt64)),
              Each(testing::AllOf(testing::Ge(0), testing::Le(9))));
  EXPECT_THAT(Values<uint8_t>(bytes_of(DataType::kBool)), Each(testing::Le(1)));
  // Positive and below 1 in both 16-bit forms.
  EXPECT_THAT(Values<uint16_t>(bytes_of(DataType::kFp16)), Each(testing::Lt(0x3c00)));
  EXPECT_THAT(Values<uint16_t>(bytes_of(DataType::kBf16)), Each(testing::Lt(0x3f80)));
  const std::string first = bytes_of(DataType::kFp64);
  EXPECT_EQ(first, bytes_of(DataType::kFp64));
  options.seed = 2;
  EXPECT_NE(first, bytes_of(DataType::kFp64));
}

TEST(FillTest, Strings) {
  InputOptions options;
  options.string_length = 3;
  options.fill = FillKind::kZeros;
  EXPECT_EQ(MakeInputs(Model(DataType::kBytes, {2}, 0), options)->at(0)[0].bytes,
            "\3\0\0\0"s + "000" + "\3\0\0\0"s + "000");
}

TEST(FillTest, OptionalInputsAreLeftOut) {
  ModelDescription model = Model(DataType::kFp32, {-1, 1});
  model.inputs[0].optional = true;
  EXPECT_TRUE(MakeInputs(model, {})->at(0).empty());
  InputOptions options;
  options.shapes["A"] = {1};
  EXPECT_EQ(MakeInputs(model, options)->at(0).size(), 1u);
}

TEST(InputFileTest, BytesOfOneElementOrOfAll) {
  InputOptions options;
  options.files["A"] = TemporaryFile("12345678");
  options.batch_size = 2;
  EXPECT_EQ(MakeInputs(Model(DataType::kFp32, {-1, 1}), options)->at(0)[0].bytes, "12345678");
  EXPECT_EQ(MakeInputs(Model(DataType::kFp32, {-1, 2}), options)->at(0)[0].bytes,
            "1234567812345678");
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1, 3}), options),
              HasSubstr("has 8 bytes for the input A of shape [2,3]; it has to have 24"));
  options.files["A"] = "no such file";
  EXPECT_THAT(Refused(Model(DataType::kFp32, {-1, 1}), options), HasSubstr("no such file"));
}

TEST(InputFileTest, ArraysOfNumpy) {
  InputOptions options;
  options.files["A"] = TemporaryFile(Npy("<f4", "(1, 2)", Bytes<float>({1, 2})));
  const auto inputs = MakeInputs(Model(DataType::kFp32, {-1, -1}), options);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_THAT(inputs->at(0)[0].shape, ElementsAre(1, 2));
  EXPECT_THAT(Values<float>(inputs->at(0)[0].bytes), ElementsAre(1, 2));
  EXPECT_THAT(Refused(Model(DataType::kInt32, {-1, -1}), options), HasSubstr("holds FP32"));
}

TEST(InputFileTest, WhatIsNoArray) {
  EXPECT_TRUE(ParseNpy(Npy("<f4", "()", "1234")).ok());
  EXPECT_THAT(ParseNpy(Npy(">f4", "(1,)", "1234")).status().message(), HasSubstr("'>f4'"));
  EXPECT_FALSE(ParseNpy(Npy("<f4", "1", "")).ok());
  EXPECT_FALSE(ParseNpy(Npy("<f4", "(-1,)", "")).ok());
  const std::string whole = Npy("<f4", "(1,)", "");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseNpy(whole.substr(0, size)).ok()) << size;
  }
}

TEST(DataFileTest, OneRequestForEachEntry) {
  InputOptions options;
  options.data_file = TemporaryFile(
      R"({"data":[{"A":[1,[2]]},{"A":{"content":[3],"shape":[1]}},{"A":{"b64":"AAAAAA=="}}]})");
  const auto requests = MakeInputs(Model(DataType::kInt32, {-1, -1}), options);
  EXPECT_FALSE(requests.ok()) << "the first has no shape";
  options.shapes["A"] = {2};
  EXPECT_THAT(Refused(Model(DataType::kInt32, {-1, -1}), options),
              HasSubstr("has 1 values for the input A of shape [1,2]; it has to have 2"));
  options.data_file =
      TemporaryFile(R"({"data":[{"A":[1,[2]]},{"A":{"content":[3],"shape":[1]}}]})");
  const auto good = MakeInputs(Model(DataType::kInt32, {-1, -1}), options);
  ASSERT_TRUE(good.ok()) << good.status();
  ASSERT_EQ(good->size(), 2u);
  EXPECT_THAT(Values<int32_t>(good->at(0)[0].bytes), ElementsAre(1, 2));
  EXPECT_THAT(Values<int32_t>(good->at(1)[0].bytes), ElementsAre(3));
}

TEST(DataFileTest, WhatIsWrong) {
  const ModelDescription model = Model(DataType::kUint8, {1}, 0);
  EXPECT_TRUE(ParseDataFile(R"({"data":[{"A":[255]}]})", model).ok());
  for (const char* text :
       {"", "[]", "{}", R"({"data":[]})", R"({"data":[[{"A":[1]}]]})", R"({"data":[{"A":[256]}]})",
        R"({"data":[{"A":[-1]}]})", R"({"data":[{"A":[1.5]}]})", R"({"data":[{"A":["x"]}]})",
        R"({"data":[{"A":1}]})", R"({"data":[{"A":{"b64":"!"}}]})",
        R"({"data":[{"A":{"content":[1],"shape":[-1]}}]})"}) {
    EXPECT_FALSE(ParseDataFile(text, model).ok()) << text;
  }
  InputOptions options;
  options.data_file = TemporaryFile(R"({"data":[{"B":[1]}]})");
  EXPECT_THAT(Refused(model, options), HasSubstr("has no values for the input A"));
}

TEST(TraceTest, AscendingSeconds) {
  using std::chrono::milliseconds;
  const auto times = ParseTrace("# a trace\n0\n0.5\n\n0.5\r\n2\n");
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_THAT(*times, ElementsAre(milliseconds(0), milliseconds(500), milliseconds(500),
                                  milliseconds(2000)));
  EXPECT_THAT(ParseTrace("1\n0.5").status().message(), HasSubstr("line 2 of the trace is '0.5'"));
  EXPECT_FALSE(ParseTrace("x").ok());
  EXPECT_FALSE(ParseTrace("-1").ok());
  EXPECT_FALSE(ParseTrace("1e9").ok());
  EXPECT_FALSE(ParseTrace("# nothing").ok());
}

}  // namespace
}  // namespace nereid::bench
