// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/proto_reader.h"

#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "grpc_service.pb.h"

namespace nereid {
namespace {

using google::protobuf::util::MessageDifferencer;
using inference::ModelInferRequest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Join(const SplitInferRequest& split, const RawContent& content) {
  std::string joined;
  for (absl::string_view piece : split.PiecesOf(content)) {
    joined.append(piece.data(), piece.size());
  }
  return joined;
}

std::vector<std::string> RawContents(const SplitInferRequest& split) {
  std::vector<std::string> raw;
  for (const RawContent& content : split.raw_contents) {
    raw.push_back(Join(split, content));
    EXPECT_EQ(raw.back().size(), content.byte_size);
  }
  return raw;
}

// The message put together again from its parts; false if `split` does not parse.
bool Parse(const SplitInferRequest& split, ModelInferRequest* message) {
  if (!message->ParseFromArray(split.header.data(), static_cast<int>(split.header.size()))) {
    return false;
  }
  EXPECT_EQ(message->raw_input_contents_size(), 0);
  for (std::string& raw : RawContents(split)) message->add_raw_input_contents(std::move(raw));
  return true;
}

// Cuts `bytes` at random places; each buffer is memory of its own, so that a sanitizer sees every
// step beyond its end. Some buffers are empty.
class CutBytes {
 public:
  CutBytes(absl::string_view bytes, double cut_probability, std::mt19937* random) {
    std::bernoulli_distribution cut(cut_probability);
    std::vector<char> buffer;
    for (const char byte : bytes) {
      while (cut(*random)) {
        buffers_.push_back(buffer);
        buffer.clear();
      }
      buffer.push_back(byte);
    }
    buffers_.push_back(buffer);
    for (std::vector<char>& one : buffers_) {
      one.shrink_to_fit();
      views_.emplace_back(one.data(), one.size());
    }
  }
  const std::vector<absl::string_view>& views() const { return views_; }

 private:
  std::vector<std::vector<char>> buffers_;
  std::vector<absl::string_view> views_;
};

bool SplitWhole(absl::string_view bytes, SplitInferRequest* split) {
  return SplitMessage({bytes}, split);
}

ModelInferRequest RandomMessage(std::mt19937* random) {
  const auto number = [&](int limit) {
    return std::uniform_int_distribution<int>(0, limit)(*random);
  };
  ModelInferRequest message;
  message.set_model_name(std::string(static_cast<size_t>(number(300)), 'm'));
  if (number(1) == 1) message.set_id("id");
  (*message.mutable_parameters())["timeout"].set_int64_param(number(1000000));
  const int inputs = number(4);
  for (int i = 0; i < inputs; ++i) {
    ModelInferRequest::InferInputTensor* const input = message.add_inputs();
    input->set_name("INPUT");
    input->set_datatype("BYTES");
    input->add_shape(number(1 << 20));
    if (number(2) == 0) input->mutable_contents()->add_bytes_contents(std::string(9, '\xff'));
    std::string raw(static_cast<size_t>(number(3) == 0 ? 0 : number(700)), '\0');
    for (char& byte : raw) byte = static_cast<char>(number(255));
    message.add_raw_input_contents(raw);
  }
  message.add_outputs()->set_name("OUTPUT");
  return message;
}

TEST(ProtoReader, SplitsAsProtobufReads) {
  std::mt19937 random(20260101);
  SplitInferRequest split;
  for (int round = 0; round < 2000; ++round) {
    const ModelInferRequest sent = RandomMessage(&random);
    const double cut_probability = round % 4 == 0 ? 0.5 : 0.02 * (round % 4);
    const CutBytes cut(sent.SerializeAsString(), cut_probability, &random);
    ASSERT_TRUE(SplitMessage(cut.views(), &split));
    ModelInferRequest read;
    ASSERT_TRUE(Parse(split, &read));
    ASSERT_TRUE(MessageDifferencer::Equals(sent, read)) << sent.ShortDebugString();
  }
}

// Damaged messages: whoever of the two understands one, the other does too, and the same.
TEST(ProtoReader, AgreesWithProtobufOnDamagedMessages) {
  const google::protobuf::LogSilencer silencer;
  std::mt19937 random(7);
  SplitInferRequest split;
  int understood = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = RandomMessage(&random).SerializeAsString();
    const int damages = std::uniform_int_distribution<int>(1, 3)(random);
    for (int i = 0; i < damages; ++i) {
      const size_t at = std::uniform_int_distribution<size_t>(0, bytes.size() - 1)(random);
      bytes[at] = static_cast<char>(std::uniform_int_distribution<int>(0, 255)(random));
    }
    ModelInferRequest expected;
    const bool expected_ok = expected.ParseFromString(bytes);
    const CutBytes cut(bytes, 0.05, &random);
    ModelInferRequest read;
    const bool ok = SplitMessage(cut.views(), &split) && Parse(split, &read);
    ASSERT_EQ(ok, expected_ok) << "round " << round;
    if (ok) {
      ASSERT_TRUE(MessageDifferencer::Equals(read, expected)) << "round " << round;
    }
    ++(ok ? understood : refused);
  }
  EXPECT_GT(understood, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(ProtoReader, HeaderAtTheFrontIsNotCopied) {
  ModelInferRequest message;
  message.set_model_name("m");
  message.add_raw_input_contents("0123456789");
  const std::string bytes = message.SerializeAsString();
  SplitInferRequest split;
  ASSERT_TRUE(SplitWhole(bytes, &split));
  EXPECT_EQ(split.header.data(), bytes.data());
  EXPECT_EQ(split.header, absl::string_view("\x0a\x01m"));
  ASSERT_EQ(split.raw_contents.size(), 1u);
  EXPECT_EQ(split.PiecesOf(split.raw_contents[0])[0].data(), bytes.data() + bytes.size() - 10);
}

TEST(ProtoReader, HeaderBehindRawContents) {
  SplitInferRequest split;
  ASSERT_TRUE(SplitWhole(absl::string_view("\x0a\x01m\x3a\x02hi\x12\x01"
                                           "1\x3a\x00",
                                           12),
                         &split));
  EXPECT_EQ(split.header, absl::string_view("\x0a\x01m\x12\x01"
                                            "1"));
  EXPECT_THAT(RawContents(split), ElementsAre("hi", ""));
}

TEST(ProtoReader, Empty) {
  SplitInferRequest split;
  ASSERT_TRUE(SplitMessage({}, &split));
  EXPECT_TRUE(split.header.empty());
  ASSERT_TRUE(SplitWhole("", &split));
  EXPECT_THAT(split.raw_contents, IsEmpty());
}

TEST(ProtoReader, FieldSevenOfAnotherWireTypeIsNoRawContent) {
  SplitInferRequest split;
  ASSERT_TRUE(SplitWhole(absl::string_view("\x38\x05", 2), &split));
  EXPECT_THAT(split.raw_contents, IsEmpty());
  EXPECT_EQ(split.header.size(), 2u);
}

TEST(ProtoReader, FieldSevenInsideAGroupIsNoRawContent) {
  SplitInferRequest split;
  const absl::string_view bytes("\xa3\x06\x3a\x01x\xa4\x06\x3a\x01y", 10);
  ASSERT_TRUE(SplitWhole(bytes, &split));
  EXPECT_THAT(RawContents(split), ElementsAre("y"));
  EXPECT_EQ(split.header, bytes.substr(0, 7));
}

TEST(ProtoReader, RefusesWhatIsNoMessage) {
  SplitInferRequest split;
  const std::vector<std::string> cases = {
      std::string("\x00", 1),  // field 0
      "\x3a",                  // no length
      "\x3a\x05"
      "1234",                          // cut within the bytes
      "\x3a\xff\xff\xff\xff\x0f",      // longer than the message
      "\x3a\x80\x80\x80\x80\x80\x01",  // length of too many bytes
      "\xff\xff\xff\xff\xff\xff",      // tag of too many bytes
      "\x0e",                          // wire type 6
      "\x0c",                          // end of no group
      "\xa3\x06\xac\x06",              // group ended by another's end
      std::string(101, '\x0b'),        // groups too deep
      "\x09"
      "1234567",                                       // fixed64 cut
      "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",  // varint too long
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_FALSE(SplitWhole(cases[i], &split)) << "case " << i;
  }
}

TEST(ProtoReader, LimitsTheNumberOfRawContents) {
  std::string bytes;
  for (int i = 0; i < 65536; ++i) bytes += std::string("\x3a\x00", 2);
  SplitInferRequest split;
  EXPECT_TRUE(SplitWhole(bytes, &split));
  EXPECT_EQ(split.raw_contents.size(), 65536u);
  EXPECT_FALSE(SplitWhole(bytes + std::string("\x3a\x00", 2), &split));
}

TEST(ProtoReader, ClearForgets) {
  SplitInferRequest split;
  ASSERT_TRUE(
      SplitWhole("\x0a\x01m\x3a\x02hi\x12\x01"
                 "1",
                 &split));
  split.Clear();
  EXPECT_TRUE(split.header.empty());
  EXPECT_THAT(split.raw_contents, IsEmpty());
  EXPECT_THAT(split.raw_pieces, IsEmpty());
}

TEST(ProtoReader, ReadsNoMoreFieldsThanItMay) {
  std::string bytes;
  for (int i = 0; i < 10; ++i) bytes += "\x78\x01";
  for (int i = 0; i < 10; ++i) bytes += "\x7b\x78\x01\x7c";  // groups of a field
  bytes += "\x3a\x01x";                                      // a raw tensor
  const absl::string_view whole = bytes;
  SplitInferRequest split;
  EXPECT_EQ(SplitMessage(absl::MakeConstSpan(&whole, 1), 41, &split), SplitEnd::kWhole);
  EXPECT_EQ(split.raw_contents.size(), 1u);
  for (const uint64_t most : {0u, 9u, 15u, 40u}) {
    EXPECT_EQ(SplitMessage(absl::MakeConstSpan(&whole, 1), most, &split), SplitEnd::kTooManyFields)
        << most;
  }
  const absl::string_view wrong = "\x78\x01\x7f";
  EXPECT_EQ(SplitMessage(absl::MakeConstSpan(&wrong, 1), 2, &split), SplitEnd::kMalformed);
  EXPECT_EQ(SplitMessage(absl::MakeConstSpan(&wrong, 1), 1, &split), SplitEnd::kTooManyFields);
}

TEST(ProtoReader, TellsWhatItsListsCost) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += "\x3a\x01x\x1a\x01i";
  const absl::string_view whole = bytes;
  SplitInferRequest split;
  ASSERT_EQ(SplitMessage(absl::MakeConstSpan(&whole, 1), UINT64_MAX, &split), SplitEnd::kWhole);
  EXPECT_EQ(split.header_size(), 3000u);
  EXPECT_TRUE(split.header.empty()) << "the pieces are not joined yet";
  const uint64_t lists = 1000 * (sizeof(RawContent) + 2 * sizeof(absl::string_view));
  EXPECT_GE(split.byte_cost(), lists + 3000);
  EXPECT_LE(split.byte_cost(), 2 * lists + 3000);
  JoinHeader(&split);
  EXPECT_EQ(split.header.size(), 3000u);
  const absl::string_view small = "\x3a\x01x\x1a\x01i";
  SplitInferRequest ordinary;
  ASSERT_EQ(SplitMessage(absl::MakeConstSpan(&small, 1), UINT64_MAX, &ordinary), SplitEnd::kWhole);
  EXPECT_EQ(ordinary.byte_cost(), 0u);
}

}  // namespace
}  // namespace nereid
