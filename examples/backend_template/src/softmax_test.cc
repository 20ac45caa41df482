// SPDX-License-Identifier: Apache-2.0
#include "softmax.h"

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> scores = {0, 0, 1000, 1000, std::log(3.0f), 0};
  const std::vector<float> expected = {0.5f, 0.5f, 0.5f, 0.5f, 0.75f, 0.25f};
  std::vector<float> got(scores.size());
  Softmax(scores.data(), 3, 2, 1, got.data());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::abs(got[i] - expected[i]) < 1e-6f) continue;
    std::printf("probability %zu is %g, expected %g\n", i, got[i], expected[i]);
    return 1;
  }
  return 0;
}
