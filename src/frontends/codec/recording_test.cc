// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/recording.h"

#include <gmock/gmock.h>

#include <sstream>

namespace nereid {
namespace {

using ::testing::HasSubstr;

constexpr char kHeader[] = "{\"nereid_recording\":1}\n";

absl::StatusOr<Recording> Read(const std::string& text) {
  std::istringstream file(text);
  return ReadRecording(file);
}

TEST(ReadRecording, ModelsRequestsAndBatches) {
  const auto recording =
      Read(std::string(kHeader) +
           "{\"model\":3,\"name\":\"m\",\"version\":2,\"config\":{\"a\":[1]}}\n"
           "{\"request\":3,\"id\":\"x\",\"queued\":7,\"batch\":1,\"size\":4}\n"
           "{\"batch\":3,\"number\":1,\"staged\":17,\"reason\":\"full\",\"requests\":1}\n"
           "{\"from a newer server\":3}\n");
  ASSERT_TRUE(recording.ok()) << recording.status();
  const RecordedModel& model = recording->models.at(3);
  EXPECT_EQ(model.name, "m");
  EXPECT_EQ(model.version, 2u);
  EXPECT_EQ(model.config, "{\"a\":[1]}");
  ASSERT_EQ(model.requests.size(), 1u);
  EXPECT_EQ(model.requests[0].id, "x");
  EXPECT_EQ(model.requests[0].queued_ns, 7u);
  EXPECT_EQ(model.requests[0].size, 4u);
  ASSERT_EQ(model.batches.size(), 1u);
  EXPECT_EQ(model.batches[0].reason, "full");
  EXPECT_EQ(model.batches[0].staged_ns, 17u);
}

TEST(ReadRecording, ALineThatIsBeingWrittenIsLeftOut) {
  const auto recording = Read(std::string(kHeader) + "{\"model\":1}\n{\"request\":1,\"si");
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_TRUE(recording->models.at(1).requests.empty());
}

absl::StatusOr<Recording> ReadInputs(const std::string& tensors) {
  std::istringstream file(std::string(kHeader) + "{\"model\":1}\n{\"inputs\":1,\"start\":5," +
                          "\"tensors\":" + tensors + "}\n");
  return ReadRecording(file, /*with_inputs=*/true);
}

TEST(ReadRecording, InputsWhereTheyAreWanted) {
  const std::string tensors = R"([{"name":"a","datatype":"INT8","shape":[1,3],"data":"YWJj"},)"
                              R"({"name":"secret","datatype":"FP32","shape":[]}])";
  const auto recording = ReadInputs(tensors);
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_EQ(recording->models.at(1).inputs.size(), 1u);
  const RecordedInputs& inputs = recording->models.at(1).inputs[0];
  EXPECT_EQ(inputs.start_ns, 5u);
  ASSERT_EQ(inputs.tensors.size(), 2u);
  EXPECT_EQ(inputs.tensors[0].name, "a");
  EXPECT_EQ(inputs.tensors[0].data_type, DataType::kInt8);
  EXPECT_EQ(inputs.tensors[0].shape, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(inputs.tensors[0].bytes, "abc");
  EXPECT_FALSE(inputs.tensors[1].has_bytes);
  EXPECT_EQ(recording->tensor_bytes, 3u);
  const auto without = Read(std::string(kHeader) + "{\"model\":1}\n{\"inputs\":1}\n");
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_TRUE(without->models.at(1).inputs.empty());
}

TEST(ReadRecording, BadInputsAreNamed) {
  const auto error = [](const std::string& tensors) {
    return std::string(ReadInputs(tensors).status().message());
  };
  EXPECT_EQ(error("{}"), "line 3: 'inputs' need 'tensors', which is a list");
  EXPECT_THAT(error("[{}]"), HasSubstr("line 3: an input has a 'datatype' that there is not"));
  EXPECT_THAT(error(R"([{"datatype":"INT8"}])"), HasSubstr("an input needs a 'shape'"));
  EXPECT_THAT(error(R"([{"datatype":"INT8","shape":[-1]}])"), HasSubstr("that is no size"));
  EXPECT_THAT(error(R"([{"datatype":"INT8","shape":[],"data":"?"}])"), HasSubstr("is no base64"));
}

TEST(ReadRecording, BadLinesAreNamed) {
  const auto error = [](const std::string& line) {
    return std::string(
        Read(std::string(kHeader) + "{\"model\":1}\n" + line + "\n").status().message());
  };
  EXPECT_THAT(error("{\"request\":2}"), HasSubstr("line 3: model 2 was not introduced"));
  EXPECT_THAT(error("{\"request\":1,\"size\":\"4\"}"), HasSubstr("line 3: Unable to parse 'size'"));
  EXPECT_THAT(error("{\"request\":-1}"), HasSubstr("line 3: "));
  EXPECT_THAT(error("{\"model\":1}"), HasSubstr("model 1 is there twice"));
  EXPECT_THAT(error("{"), HasSubstr("line 3: "));
  EXPECT_THAT(error(std::string(Recording::kMostLineBytes + 1, ' ')), HasSubstr("longer than"));
  EXPECT_THAT(std::string(Read("{\"nereid_recording\":2}\n").status().message()),
              HasSubstr("no recording of version 1"));
}

TEST(ReadRecording, ALineThatDoesNotEndIsNotReadToItsEnd) {
  std::istringstream file(kHeader + std::string(3 * Recording::kMostLineBytes, ' '));
  EXPECT_THAT(std::string(ReadRecording(file).status().message()),
              HasSubstr("line 2: it is longer than"));
  EXPECT_LT(file.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in),
            static_cast<std::streamoff>(2 * Recording::kMostLineBytes));
}

TEST(ReadRecording, AnotherFileIsToldByItsFirstLine) {
  EXPECT_THAT(std::string(Read("").status().message()), HasSubstr("it is empty"));
  EXPECT_THAT(std::string(Read("{\"requests\":[]}").status().message()),
              HasSubstr("line 1: this is no recording of version 1"));
}

}  // namespace
}  // namespace nereid
