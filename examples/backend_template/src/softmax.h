// SPDX-License-Identifier: Apache-2.0
// The computation of this backend, which knows nothing of a server. Pure function.
#ifndef SOFTMAX_H_
#define SOFTMAX_H_

#include <cstddef>

// Turns each of `rows` rows of `columns` scores into probabilities: exp(score / temperature),
// divided by their sum. `scores` and `probabilities` may be the same. REQUIRES: temperature > 0.
void Softmax(const float* scores, size_t rows, size_t columns, float temperature,
             float* probabilities);

#endif  // SOFTMAX_H_
