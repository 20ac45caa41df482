// SPDX-License-Identifier: Apache-2.0
// Resampler: sound at another sample rate, by band-limited interpolation: every sample of the
// result is a sum of the samples around it, weighted by a low-pass filter that passes the
// frequencies that both rates can represent.
//
// The formulas: J. O. Smith, "Digital Audio Resampling" (CCRMA, Stanford), for the interpolation
// from a table of the filter; A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing",
// for the Kaiser window. Frequencies up to 0.8 of half the lower rate (6.4 kHz at 16 kHz) are kept;
// aliases are weaker by 80 dB.
//
// Thread-compatible: may be read by several threads. Does not own the samples.
#ifndef SPEECH_LAB_RESAMPLE_H_
#define SPEECH_LAB_RESAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace speech_lab {

class Resampler {
 public:
  // `samples` outlives the object. Rates in samples per second. REQUIRES: both > 0.
  Resampler(std::span<const float> samples, uint32_t rate, uint32_t wanted_rate);

  // Number of samples of the result, which lasts as long as the original.
  size_t size() const { return size_; }
  // Writes the samples from `first` on. REQUIRES: first + out.size() <= size().
  void Read(size_t first, std::span<float> out) const;

 private:
  float At(size_t index) const;

  const std::span<const float> samples_;
  const uint64_t rate_;
  const uint64_t wanted_rate_;
  const size_t size_;
  // The cut-off frequency of the filter, as a fraction of half of `rate_`; and its reach in
  // samples.
  const double cutoff_;
  const double reach_;
  const std::vector<float>& table_;
};

}  // namespace speech_lab

#endif  // SPEECH_LAB_RESAMPLE_H_
