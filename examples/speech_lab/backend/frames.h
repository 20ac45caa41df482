// Frames: a recording as the speech detector hears it: at 16 kHz, in pieces of 512 samples, each
// after the last 64 of the piece before. Before the begin and after the end is silence.
//
// Made for one pass from the first piece to the last, each resampled when its turn comes, so the
// first is there at once. Thread-compatible; used by the thread that executes the request.
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
  // `recording` outlives this.
  explicit Frames(const Recording& recording)
      : resampler_(recording.samples, recording.rate, kFrameRate) {}

  size_t count() const { return (resampler_.size() + kNewSamples - 1) / kNewSamples; }
  // Where the new samples of a frame begin, in seconds.
  static float BeginSeconds(size_t index) {
    return static_cast<float>(static_cast<double>(index * kNewSamples) / kFrameRate);
  }
  // The next one; valid until the call after. REQUIRES: called at most count() times.
  const Frame& Next();

 private:
  const Resampler resampler_;
  size_t position_ = 0;  // samples read
  Frame frame_{};
};

}  // namespace speech_lab

#endif  // SPEECH_LAB_FRAMES_H_
