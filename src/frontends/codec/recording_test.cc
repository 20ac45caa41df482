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
  const auto recording = Read(std::string(kHeader) +
                              "{\"model\":3,\"name\":\"m\",\"version\":2,\"config\":{\"a\":[1]}}\n"
                              "{\"request\":3,\"id\":\"x\",\"queued\":7,\"batch\":1,\"size\":4}\n"
                              "{\"batch\":3,\"number\":1,\"reason\":\"full\",\"requests\":1}\n"
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
}

TEST(ReadRecording, ALineThatIsBeingWrittenIsLeftOut) {
  const auto recording = Read(std::string(kHeader) + "{\"model\":1}\n{\"request\":1,\"si");
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_TRUE(recording->models.at(1).requests.empty());
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
