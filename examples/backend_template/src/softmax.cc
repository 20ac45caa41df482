// SPDX-License-Identifier: Apache-2.0
#include "softmax.h"

#include <algorithm>
#include <cmath>

void Softmax(const float* scores, size_t rows, size_t columns, float temperature,
             float* probabilities) {
  for (size_t row = 0; row < rows && columns > 0; ++row) {
    const float* const in = scores + row * columns;
    float* const out = probabilities + row * columns;
    // Without the subtraction exp() of a large score would be infinite.
    const float most = *std::max_element(in, in + columns);
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += out[i] = std::exp((in[i] - most) / temperature);
    for (size_t i = 0; i < columns; ++i) out[i] /= sum;
  }
}
