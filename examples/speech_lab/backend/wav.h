// SPDX-License-Identifier: Apache-2.0
// Reading WAV files: RIFF, little endian, with PCM of 8, 16, 24 or 32 bits or floats of 32 bits, in
// any number of channels. Pure functions; thread-safe.
#ifndef SPEECH_LAB_WAV_H_
#define SPEECH_LAB_WAV_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace speech_lab {

// Accepted values; other files are refused before memory is allocated for them.
inline constexpr uint32_t kMinRate = 4000;
inline constexpr uint32_t kMaxRate = 192000;
inline constexpr uint32_t kMaxChannels = 64;
inline constexpr uint32_t kMaxSeconds = 600;

// One channel of sound. Immutable once made.
struct Recording {
  uint32_t rate = 0;           // samples per second
  std::vector<float> samples;  // from -1 to 1
};

// Fills in `recording` with the mean of all channels; floats beyond full scale are clipped. Returns
// what is wrong with the file, if anything is, as a clause without a full stop.
std::optional<std::string> ReadWav(std::span<const uint8_t> file, Recording* recording);

}  // namespace speech_lab

#endif  // SPEECH_LAB_WAV_H_
