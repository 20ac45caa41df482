// SPDX-License-Identifier: Apache-2.0
#include "wav.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace speech_lab {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint32_t kPcm = 1;
constexpr uint32_t kFloat = 3;
// The actual format is then in the extension, as the first two bytes of an identifier.
constexpr uint32_t kExtensible = 0xFFFE;
constexpr size_t kRiffHeaderBytes = 12;
constexpr size_t kChunkHeaderBytes = 8;
constexpr size_t kFormatBytes = 16;
constexpr size_t kExtensibleBytes = 40;
constexpr size_t kSubformatOffset = 24;
// The size of a data chunk whose writer could not fill it in later: the chunk is the rest of the
// file.
constexpr uint32_t kUnknownSize = 0xFFFFFFFF;

struct Format {
  uint32_t codec = 0;
  uint32_t channels = 0;
  uint32_t rate = 0;
  uint32_t bits = 0;

  size_t frame_bytes() const { return size_t{channels} * bits / 8; }
};

// A little-endian number of `count` bytes. REQUIRES: the bytes exist; count <= 4.
uint32_t Number(Bytes bytes, size_t offset, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint32_t{bytes[offset + i]} << (8 * i);
  return value;
}

bool HasTag(Bytes bytes, size_t offset, const char* tag) {
  return std::memcmp(bytes.data() + offset, tag, 4) == 0;
}

std::string Text(uint64_t number) { return std::to_string(number); }

// The first chunk of a given name. If the file ends within the chunk, the part that exists.
struct Chunk {
  Bytes content;
  uint32_t size = 0;  // as its header says

  bool whole() const { return content.size() == size; }
};

std::optional<Chunk> FindChunk(Bytes file, const char* tag) {
  size_t offset = kRiffHeaderBytes;
  while (file.size() - offset >= kChunkHeaderBytes) {
    const uint32_t size = Number(file, offset + 4, 4);
    const Bytes rest = file.subspan(offset + kChunkHeaderBytes);
    const size_t there = std::min<size_t>(size, rest.size());
    if (HasTag(file, offset, tag)) return Chunk{rest.first(there), size};
    // Chunks begin at even offsets.
    offset += kChunkHeaderBytes + std::min<size_t>(there + (size & 1), rest.size());
  }
  return std::nullopt;
}

std::optional<std::string> ReadFormat(Bytes file, Format* format) {
  const std::optional<Chunk> chunk = FindChunk(file, "fmt ");
  if (!chunk.has_value()) return "the WAV file has no 'fmt ' chunk";
  const Bytes bytes = chunk->content;
  if (!chunk->whole() || bytes.size() < kFormatBytes) {
    return "the 'fmt ' chunk of the WAV file ends after " + Text(bytes.size()) + " bytes";
  }
  format->codec = Number(bytes, 0, 2);
  format->channels = Number(bytes, 2, 2);
  format->rate = Number(bytes, 4, 4);
  format->bits = Number(bytes, 14, 2);
  if (format->codec == kExtensible && bytes.size() >= kExtensibleBytes) {
    format->codec = Number(bytes, kSubformatOffset, 2);
  }
  return std::nullopt;
}

std::optional<std::string> CheckFormat(const Format& format) {
  const uint32_t bits = format.bits;
  const bool pcm = format.codec == kPcm && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
  if (!pcm && !(format.codec == kFloat && bits == 32)) {
    return "WAV format " + Text(format.codec) + " with " + Text(bits) +
           " bits is not supported, only PCM (1) with 8, 16, 24 or 32 bits and floats (3) with 32";
  }
  if (format.channels < 1 || format.channels > kMaxChannels) {
    return "the WAV file has " + Text(format.channels) + " channels, not 1 to " +
           Text(kMaxChannels);
  }
  if (format.rate < kMinRate || format.rate > kMaxRate) {
    return "the WAV file has " + Text(format.rate) + " samples a second, not " + Text(kMinRate) +
           " to " + Text(kMaxRate);
  }
  return std::nullopt;
}

std::optional<std::string> FindSound(Bytes file, const Format& format, Bytes* sound) {
  const std::optional<Chunk> chunk = FindChunk(file, "data");
  if (!chunk.has_value()) return "the WAV file has no 'data' chunk";
  if (!chunk->whole() && chunk->size != kUnknownSize) {
    return "the WAV file is cut off: " + Text(chunk->content.size()) + " of " + Text(chunk->size) +
           " bytes of sound are there";
  }
  const size_t frames = chunk->content.size() / format.frame_bytes();
  if (frames == 0) return "the WAV file holds no sound";
  if (frames / format.rate >= kMaxSeconds) {
    return "the WAV file is " + Text(frames / format.rate) +
           " seconds long, the most is less than " + Text(kMaxSeconds);
  }
  *sound = chunk->content.first(frames * format.frame_bytes());
  return std::nullopt;
}

// One sample from -1 to 1; not finite if the file contains such a number.
float Sample(Bytes sound, size_t offset, const Format& format) {
  const uint32_t bits = format.bits;
  const uint32_t raw = Number(sound, offset, bits / 8);
  if (format.codec == kFloat) {
    const float value = std::bit_cast<float>(raw);
    return std::isfinite(value) ? std::clamp(value, -1.0f, 1.0f) : value;
  }
  // Samples of 8 bits are unsigned, with silence at 128; larger ones are signed.
  if (bits == 8) return (static_cast<float>(raw) - 128.0f) / 128.0f;
  const auto value = static_cast<int32_t>(raw << (32 - bits));
  return static_cast<float>(value / 2147483648.0);
}

}  // namespace

std::optional<std::string> ReadWav(std::span<const uint8_t> file, Recording* recording) {
  if (file.size() < kRiffHeaderBytes || !HasTag(file, 0, "RIFF") || !HasTag(file, 8, "WAVE")) {
    return "this is not a WAV file: it does not begin with RIFF and WAVE";
  }
  Format format;
  Bytes sound;
  if (auto wrong = ReadFormat(file, &format)) return wrong;
  if (auto wrong = CheckFormat(format)) return wrong;
  if (auto wrong = FindSound(file, format, &sound)) return wrong;
  const size_t step = format.bits / 8;
  recording->rate = format.rate;
  recording->samples.resize(sound.size() / format.frame_bytes());
  size_t offset = 0;
  for (float& mean : recording->samples) {
    float sum = 0;
    for (uint32_t i = 0; i < format.channels; ++i, offset += step) {
      sum += Sample(sound, offset, format);
    }
    mean = sum / static_cast<float>(format.channels);
    if (!std::isfinite(mean)) return "the WAV file holds a sample that is not a finite number";
  }
  return std::nullopt;
}

}  // namespace speech_lab
