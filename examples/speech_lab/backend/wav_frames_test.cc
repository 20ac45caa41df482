// SPDX-License-Identifier: Apache-2.0
// Tests of the parts of the backend that do not need a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "frames.h"
#include "resample.h"
#include "wav.h"

namespace speech_lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

void Append(Bytes* bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void AppendTag(Bytes* bytes, const std::string& tag) {
  bytes->insert(bytes->end(), tag.begin(), tag.end());
}

struct Spec {
  uint32_t codec = 1;
  uint32_t channels = 1;
  uint32_t rate = 16000;
  uint32_t bits = 16;
};

Bytes FormatChunk(const Spec& spec) {
  Bytes chunk;
  AppendTag(&chunk, "fmt ");
  Append(&chunk, 16, 4);
  Append(&chunk, spec.codec, 2);
  Append(&chunk, spec.channels, 2);
  Append(&chunk, spec.rate, 4);
  Append(&chunk, uint64_t{spec.rate} * spec.channels * spec.bits / 8, 4);
  Append(&chunk, spec.channels * spec.bits / 8, 2);
  Append(&chunk, spec.bits, 2);
  return chunk;
}

Bytes DataChunk(const Spec& spec, const std::vector<uint32_t>& samples) {
  Bytes chunk;
  AppendTag(&chunk, "data");
  Append(&chunk, samples.size() * spec.bits / 8, 4);
  for (const uint32_t sample : samples) Append(&chunk, sample, static_cast<int>(spec.bits / 8));
  return chunk;
}

Bytes Join(const std::vector<Bytes>& chunks) {
  Bytes file;
  AppendTag(&file, "RIFF");
  Append(&file, 0, 4);
  AppendTag(&file, "WAVE");
  for (const Bytes& chunk : chunks) file.insert(file.end(), chunk.begin(), chunk.end());
  return file;
}

Bytes Wav(const Spec& spec, const std::vector<uint32_t>& samples) {
  return Join({FormatChunk(spec), DataChunk(spec, samples)});
}

std::vector<float> Samples(const Bytes& file) {
  Recording recording;
  EXPECT_EQ(ReadWav(file, &recording).value_or(""), "");
  return recording.samples;
}

std::string Wrong(const Bytes& file) {
  Recording recording;
  return ReadWav(file, &recording).value_or("nothing");
}

TEST(Wav, EveryWidthOfSample) {
  EXPECT_THAT(Samples(Wav({.bits = 8}, {0, 128, 192})), ElementsAre(-1.0f, 0.0f, 0.5f));
  EXPECT_THAT(Samples(Wav({.bits = 16}, {0x8000, 0, 0x4000})), ElementsAre(-1.0f, 0.0f, 0.5f));
  EXPECT_THAT(Samples(Wav({.bits = 24}, {0x800000, 1})), ElementsAre(-1.0f, 1.0f / 8388608));
  EXPECT_THAT(Samples(Wav({.bits = 32}, {0x80000000, 0x40000000})), ElementsAre(-1.0f, 0.5f));
  const auto floats = {std::bit_cast<uint32_t>(-0.25f), std::bit_cast<uint32_t>(7.0f)};
  EXPECT_THAT(Samples(Wav({.codec = 3, .bits = 32}, floats)), ElementsAre(-0.25f, 1.0f));
}

TEST(Wav, ChannelsAreMixed) {
  EXPECT_THAT(Samples(Wav({.channels = 2}, {0x4000, 0, 0x2000, 0xE000})), ElementsAre(0.25f, 0.0f));
  // An incomplete set of channels at the end is ignored.
  EXPECT_THAT(Samples(Wav({.channels = 2}, {0x4000, 0, 0x2000})), ElementsAre(0.25f));
}

TEST(Wav, OtherChunksAreSkipped) {
  Bytes odd;
  AppendTag(&odd, "LIST");
  Append(&odd, 3, 4);
  Append(&odd, 0, 4);  // the fourth byte is padding
  const Spec spec;
  EXPECT_THAT(Samples(Join({odd, FormatChunk(spec), odd, DataChunk(spec, {0x4000})})),
              ElementsAre(0.5f));
}

TEST(Wav, ExtensibleFormatsAndUnknownLengths) {
  Bytes format = FormatChunk({.codec = 0xFFFE});
  format[4] = 40;
  Append(&format, 22, 2);
  Append(&format, 16, 2);
  Append(&format, 0, 4);
  Append(&format, 1, 8);  // PCM
  Append(&format, 0, 8);
  Bytes data = DataChunk({}, {0x4000, 0x2000});
  EXPECT_THAT(Samples(Join({format, data})), ElementsAre(0.5f, 0.25f));
  for (size_t i = 4; i < 8; ++i) data[i] = 0xFF;
  EXPECT_THAT(Samples(Join({format, data})), ElementsAre(0.5f, 0.25f));
}

TEST(Wav, WhatIsWrongIsSaid) {
  const Bytes good = Wav({}, {1, 2, 3});
  EXPECT_THAT(Wrong({}), HasSubstr("this is not a WAV file"));
  EXPECT_THAT(Wrong(Bytes(100, 'x')), HasSubstr("this is not a WAV file"));
  EXPECT_THAT(Wrong(Join({})), HasSubstr("no 'fmt ' chunk"));
  EXPECT_THAT(Wrong(Join({FormatChunk({})})), HasSubstr("no 'data' chunk"));
  EXPECT_EQ(Wrong(Bytes(good.begin(), good.end() - 1)),
            "the WAV file is cut off: 5 of 6 bytes of sound are there");
  EXPECT_THAT(Wrong(Wav({}, {})), HasSubstr("no sound"));
  EXPECT_THAT(Wrong(Wav({.codec = 7, .bits = 8}, {1})), HasSubstr("format 7 with 8 bits"));
  EXPECT_THAT(Wrong(Wav({.bits = 12}, {1})), HasSubstr("format 1 with 12 bits"));
  EXPECT_THAT(Wrong(Wav({.codec = 0xFFFE}, {1})), HasSubstr("format 65534"));
  EXPECT_THAT(Wrong(Wav({.channels = 0}, {1})), HasSubstr("0 channels, not 1 to 64"));
  EXPECT_THAT(Wrong(Wav({.channels = 65535}, {1})), HasSubstr("65535 channels"));
  EXPECT_THAT(Wrong(Wav({.rate = 0}, {1})), HasSubstr("0 samples a second, not 4000 to 192000"));
  EXPECT_THAT(Wrong(Wav({.rate = 0xFFFFFFFF}, {1})), HasSubstr("4294967295 samples a second"));
  EXPECT_THAT(Wrong(Wav({.rate = 4000, .bits = 8}, std::vector<uint32_t>(4000 * 600))),
              HasSubstr("600 seconds long"));
  const auto nan = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
  EXPECT_THAT(Wrong(Wav({.codec = 3, .bits = 32}, {nan})), HasSubstr("not a finite number"));
}

TEST(Wav, NoDamageIsFatal) {
  const Bytes good = Wav({.channels = 2}, {1, 2, 3, 4, 5, 6});
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(Wrong(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))),
              "nothing");
  }
  Recording recording;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int value : {0, 1, 0x7F, 0x80, 0xFF}) {
      Bytes bad = good;
      bad[i] = static_cast<uint8_t>(value);
      const bool refused = ReadWav(bad, &recording).has_value();
      EXPECT_TRUE(refused || (recording.samples.size() <= 12 && recording.rate >= kMinRate));
    }
  }
}

std::vector<float> Sine(double hertz, uint32_t rate, size_t count) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i) {
    samples[i] =
        static_cast<float>(std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  }
  return samples;
}

// The greatest difference between a second of `hertz`, resampled from `rate` to `wanted`, and
// `amplitude` times the same tone generated at `wanted`. The ends are left out, because the silence
// around them affects them.
double WorstDifference(double hertz, uint32_t rate, uint32_t wanted, double amplitude) {
  const std::vector<float> samples = Sine(hertz, rate, rate);
  const Resampler resampler(samples, rate, wanted);
  EXPECT_EQ(resampler.size(), wanted);
  std::vector<float> out(resampler.size());
  resampler.Read(0, out);
  const std::vector<float> right = Sine(hertz, wanted, wanted);
  double worst = 0;
  for (size_t i = wanted / 50; i < wanted - wanted / 50; ++i) {
    worst = std::max(worst, std::abs(out[i] - amplitude * right[i]));
  }
  return worst;
}

TEST(Resampler, TonesStayWhatTheyAre) {
  for (const uint32_t rate : {8000, 11025, 22050, 44100, 44101, 48000, 192000}) {
    EXPECT_LT(WorstDifference(440, rate, 16000, 1), 3e-4) << rate;
    EXPECT_LT(WorstDifference(3000, rate, 16000, 1), 3e-4) << rate;
  }
  EXPECT_LT(WorstDifference(6300, 44100, 16000, 1), 1e-3);
}

TEST(Resampler, WhatTheLowerRateCanNotCarryIsGone) {
  for (const double hertz : {8100.0, 10000.0, 13000.0, 20000.0}) {
    EXPECT_LT(WorstDifference(hertz, 44100, 16000, 0), 1e-3) << hertz;
  }
}

TEST(Resampler, TheSameRateIsACopy) {
  const std::vector<float> samples = Sine(440, 16000, 100);
  const Resampler resampler(samples, 16000, 16000);
  std::vector<float> out(resampler.size() - 3);
  resampler.Read(3, out);
  EXPECT_EQ(out, std::vector<float>(samples.begin() + 3, samples.end()));
}

TEST(Resampler, AnyPieceIsTheSame) {
  const std::vector<float> samples = Sine(440, 11025, 500);
  const Resampler resampler(samples, 11025, 16000);
  EXPECT_EQ(resampler.size(), 726u);
  std::vector<float> all(resampler.size());
  std::vector<float> piece(100);
  resampler.Read(0, all);
  resampler.Read(626, piece);
  EXPECT_EQ(piece, std::vector<float>(all.begin() + 626, all.end()));
}

TEST(Frames, EachBeginsWithTheEndOfTheOneBefore) {
  Recording recording{16000, {}};
  for (int i = 1; i <= 1100; ++i) recording.samples.push_back(static_cast<float>(i));
  Frames frames(recording);
  ASSERT_EQ(frames.count(), 3u);
  Frame frame = frames.Next();
  EXPECT_EQ(frame[63], 0);
  EXPECT_EQ(frame[64], 1);
  EXPECT_EQ(frame[575], 512);
  frame = frames.Next();
  EXPECT_EQ(frame[0], 449);
  EXPECT_EQ(frame[64], 513);
  frame = frames.Next();
  EXPECT_EQ(frame[63], 1024);
  EXPECT_EQ(frame[64 + 75], 1100);
  EXPECT_EQ(frame[64 + 76], 0);
  EXPECT_EQ(frame[575], 0);
  EXPECT_FLOAT_EQ(Frames::BeginSeconds(2), 0.064f);
}

TEST(Frames, OneSampleIsOneFrame) {
  const Recording recording{4000, {0.5f}};
  EXPECT_EQ(Frames(recording).count(), 1u);
}

}  // namespace
}  // namespace speech_lab
