// SPDX-License-Identifier: Apache-2.0
#include "frames.h"

#include <algorithm>

namespace speech_lab {

const Frame& Frames::Next() {
  std::copy(frame_.end() - kOldSamples, frame_.end(), frame_.begin());
  const std::span<float> fresh = std::span(frame_).subspan(kOldSamples);
  const size_t count = std::min(kNewSamples, resampler_.size() - position_);
  resampler_.Read(position_, fresh.first(count));
  std::fill(fresh.begin() + static_cast<std::ptrdiff_t>(count), fresh.end(), 0.0f);
  position_ += count;
  return frame_;
}

}  // namespace speech_lab
