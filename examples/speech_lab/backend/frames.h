// SPDX-License-Identifier: Apache-2.0
// Frames: a recording in the form that the speech detector needs: at 16 kHz, in pieces of 512
// samples, each preceded by the last 64 samples of the previous piece. There is silence before the
// begin and after the end.
//
// Made for one pass from the first piece to the last. Each piece is resampled only when it is
// requested, so the first one is available at once. Thread-compatible; used by the thread that
// executes the request.
#ifndef SPEECH_LAB_FRAMES_H_
#define SPEECH_LAB_FRAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "resample.h"
#include "wav.h"

namespace speech_lab {

inline constexpr uint32_t kFrameRate = 16000;
inline constexpr size_t kNewSamples = 512;
inline constexpr size_t kOldSamples = 64;

using Frame = std::array<float, kOldSamples + kNewSamples>;

class Frames {
 public:
  // `recording` outlives the object.
  explicit Frames(const Recording& recording)
      : resampler_(recording.samples, recording.rate, kFrameRate) {}

  size_t count() const { return (resampler_.size() + kNewSamples - 1) / kNewSamples; }
  // The time at which the new samples of a frame begin, in seconds.
  static float BeginSeconds(size_t index) {
    return static_cast<float>(static_cast<double>(index * kNewSamples) / kFrameRate);
  }
  // The next frame; valid until the next call. REQUIRES: called at most count() times.
  const Frame& Next();

 private:
  const Resampler resampler_;
  size_t position_ = 0;  // samples read
  Frame frame_{};
};

}  // namespace speech_lab

#endif  // SPEECH_LAB_FRAMES_H_
