// SPDX-License-Identifier: Apache-2.0
// The two JSON readers have to agree: every text that the fast one reads, the careful one has to
// read in the same way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/testing/repeats.h"
#include "frontends/codec/careful_json_reader.h"
#include "frontends/codec/codec_testing.h"
#include "frontends/codec/fast_json_reader.h"
#include "frontends/codec/json_readers_testing.h"

namespace nereid {
namespace {

using codec_testing::BothReaders;
using codec_testing::PaddedBytes;

constexpr uint64_t kLimit = uint64_t{1} << 20;

// Writes random documents that follow the protocol.
class DocumentMaker {
 public:
  explicit DocumentMaker(uint64_t seed) : random_(seed) {}

  std::string Document() {
    std::vector<std::string> members = {"\"inputs\":" + List(&DocumentMaker::Input)};
    if (Chance(2)) members.push_back("\"id\":" + String());
    if (Chance(2)) members.push_back("\"outputs\":" + List(&DocumentMaker::Output));
    if (Chance(2)) members.push_back("\"parameters\":" + Parameters());
    if (Chance(8)) members.push_back("\"model_name\":" + String());
    return Object(std::move(members));
  }

  size_t Below(size_t bound) { return random_() % bound; }

 private:
  bool Chance(size_t one_in) { return Below(one_in) == 0; }

  std::string Space() { return Chance(6) ? std::string(1 + Below(3), " \n\t"[Below(3)]) : ""; }

  std::string Object(std::vector<std::string> members) {
    std::shuffle(members.begin(), members.end(), random_);
    std::string text = "{";
    for (size_t i = 0; i < members.size(); ++i) text += (i > 0 ? "," : "") + Space() + members[i];
    return text + Space() + "}";
  }

  std::string List(std::string (DocumentMaker::*item)()) {
    std::string text = "[";
    const size_t count = Below(4);
    for (size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + Space() + (this->*item)();
    return text + "]";
  }

  std::string String() {
    static const char* const kPieces[] = {"a",        "INPUT", "\\n",  "\\u00e9",        "\\\"",
                                          "\xc3\xa9", "\\/",   "[{,:", "\\ud83d\\ude00", "\\u0000"};
    std::string text = "\"";
    for (size_t i = Below(4); i > 0; --i) text += kPieces[Below(std::size(kPieces))];
    return text + "\"";
  }

  // A number of at most so many bits, besides the sign.
  std::string Integer(bool negative, int bits = 63) {
    std::string text = negative && Chance(2) ? "-" : "";
    const uint64_t number = Chance(4) ? random_() >> (1 + Below(62)) : Below(300);
    text += std::to_string(number & (~uint64_t{0} >> (64 - bits)));
    return text == "-0" ? "0" : text;
  }

  std::string Real(bool single = false) {
    std::string text = Integer(true);
    if (Chance(2)) text += "." + std::to_string(random_() >> Below(64));
    if (Chance(4))
      text += std::string(Chance(2) ? "e" : "E+") + std::to_string(Below(single ? 19 : 40));
    if (Chance(4) && text.find_first_of("eE") == std::string::npos) {
      text += "e-" + std::to_string(Below(60));
    }
    return text;
  }

  std::string Bool() { return Chance(2) ? "true" : "false"; }

  std::string Scalar(const std::string& type) {
    if (type == "BOOL") return Bool();
    if (type == "BYTES") return String();
    if (type[0] == 'F') return Real(type == "FP32");
    const int bits = std::stoi(type.substr(type.find_first_of("0123456789")));
    return type[0] == 'I' ? Integer(true, bits - 1) : Integer(false, std::min(bits, 63));
  }

  // `count` scalars, nested at random.
  std::string Data(const std::string& type, size_t count, int depth) {
    std::string text = "[";
    bool first = true;
    while (count > 0) {
      if (!first) text += "," + Space();
      first = false;
      const size_t part = depth < 5 && Chance(4) ? 1 + Below(count) : 0;
      text += part > 0 ? Data(type, part, depth + 1) : Scalar(type);
      count -= std::max<size_t>(part, 1);
    }
    return text + "]";
  }

  std::string Input() {
    static const char* const kTypes[] = {"BOOL",  "UINT8", "UINT16", "UINT32", "UINT64", "INT8",
                                         "INT16", "INT32", "INT64",  "FP32",   "FP64",   "BYTES"};
    const std::string type = kTypes[Below(std::size(kTypes))];
    std::string shape = "[";
    size_t count = 1;
    for (size_t rank = Below(4), i = 0; i < rank; ++i) {
      const size_t dim = Below(5);
      count *= dim;
      shape += (i > 0 ? "," : "") + std::to_string(dim);
    }
    std::vector<std::string> members = {"\"name\":" + String(), "\"datatype\":\"" + type + "\"",
                                        "\"shape\":" + shape + "]"};
    if (Chance(4)) {
      members.push_back("\"parameters\":{\"binary_data_size\":" + std::to_string(Below(99)) + "}");
    } else {
      members.push_back("\"data\":" + Data(type, count, 1));
      if (Chance(4)) members.push_back("\"parameters\":{\"other\":" + Real() + "}");
    }
    return Object(std::move(members));
  }

  std::string Output() {
    std::vector<std::string> members = {"\"name\":" + String()};
    std::vector<std::string> parameters;
    if (Chance(2)) parameters.push_back("\"binary_data\":" + Bool());
    if (Chance(2)) parameters.push_back("\"classification\":" + Integer(false));
    if (Chance(2)) members.push_back("\"parameters\":" + Object(std::move(parameters)));
    return Object(std::move(members));
  }

  std::string Parameters() {
    std::vector<std::string> members;
    if (Chance(2)) {
      members.push_back("\"sequence_id\":" + (Chance(2) ? String() : Integer(false)));
      members.push_back("\"sequence_start\":" + Bool());
      members.push_back("\"sequence_end\":" + Bool());
    }
    if (Chance(3)) members.push_back("\"priority\":" + Integer(false));
    if (Chance(3)) members.push_back("\"timeout\":" + Integer(false));
    if (Chance(3)) members.push_back("\"binary_data_output\":" + Bool());
    if (Chance(2)) members.push_back("\"n\":" + Integer(true));
    if (Chance(2)) members.push_back("\"d\":" + Real());
    if (Chance(2)) members.push_back("\"b\":" + Bool());
    if (Chance(2)) members.push_back("\"s\\u0031\":" + String());
    return Object(std::move(members));
  }

  std::mt19937_64 random_;
};

TEST(JsonReadersTest, AgreeOnValidDocuments) {
  DocumentMaker maker(1);
  for (int i = 0; i < Repeats(20'000); ++i) {
    const PaddedBytes json(maker.Document());
    const BothReaders both(json.view(), kLimit);
    ASSERT_TRUE(both.careful_status().ok()) << both.careful_status() << "\n" << json.view();
    ASSERT_TRUE(both.fast_read()) << json.view();
    ASSERT_EQ(both.Difference(), "") << json.view();
  }
}

// simdjson 3.0.1 reads 0.5... of more than 19 digits as 1.8e-37.
TEST(JsonReadersTest, LongFractionsAreReadExactly) {
  const std::string fraction = "0." + std::string(56, '5');
  const std::string json = R"({"parameters":{"p":)" + fraction +
                           R"(},"inputs":[{"name":"I","datatype":"FP64","shape":[2],"data":[)" +
                           fraction + ", -" + fraction + "]}]}";
  const PaddedBytes padded(json, 0);
  RequestBuffers buffers;
  V2Document document;
  ASSERT_TRUE(ReadJsonFast(padded.view(), RequestLimits{}, &buffers, &document));
  EXPECT_EQ(std::get<double>(document.parameters.at(0).value), std::stod(fraction));
  double values[2];
  ASSERT_EQ(document.inputs.at(0).byte_size, sizeof(values));
  std::memcpy(values, document.inputs.at(0).bytes, sizeof(values));
  EXPECT_EQ(values[0], std::stod(fraction));
  EXPECT_EQ(values[1], -std::stod(fraction));
}

TEST(JsonReadersTest, FastReaderNeverReadsWhatTheCarefulOneRefuses) {
  DocumentMaker maker(2);
  int fast = 0, refused = 0;
  for (int i = 0; i < Repeats(60'000); ++i) {
    std::string text = maker.Document();
    for (size_t edits = 1 + maker.Below(3); edits > 0; --edits) {
      static constexpr char kBytes[] = "{}[]\",:0123456789-+.eEtfn \\x\xff\x01";
      const size_t at = maker.Below(text.size());
      const char byte = kBytes[maker.Below(sizeof(kBytes) - 1)];
      switch (maker.Below(4)) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.erase(at, 1 + maker.Below(3));
          break;
        case 2:
          text.insert(at, 1, byte);
          break;
        default:
          text.insert(at, text.substr(maker.Below(text.size()), maker.Below(20)));
      }
      if (text.empty()) text = "{";
    }
    const PaddedBytes json(text);
    const BothReaders both(json.view(), kLimit);
    ASSERT_TRUE(both.Agree()) << both.careful_status() << both.Difference() << "\n" << text;
    if (both.fast_read()) ++fast;
    if (!both.careful_status().ok()) ++refused;
  }
  // The test is meaningful only if enough texts of both kinds occurred.
  EXPECT_GT(fast, Repeats(2'000));
  EXPECT_GT(refused, Repeats(20'000));
}

}  // namespace
}  // namespace nereid
