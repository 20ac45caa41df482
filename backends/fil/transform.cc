// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "backends/fil/forest.h"

namespace nereid_backend {
namespace {

float Sigmoid(float x, double) {
  constexpr float kMostExponent = 88.7f;  // XGBoost's; the result of exp stays finite
  return 1.0f / (1.0f + std::exp(std::min(-x, kMostExponent)));
}

double Sigmoid(double x, double steepness) { return 1.0 / (1.0 + std::exp(-steepness * x)); }

// XGBoost and LightGBM sum in double.
template <typename Sum>
void Softmax(Sum* sums, size_t outputs) {
  const Sum greatest = *std::max_element(sums, sums + outputs);
  double total = 0;
  for (size_t i = 0; i < outputs; ++i) {
    sums[i] = std::exp(sums[i] - greatest);
    total += sums[i];
  }
  for (size_t i = 0; i < outputs; ++i) sums[i] /= static_cast<Sum>(total);
}

template <typename Sum>
Sum ApplyToOne(TransformKind kind, double steepness, Sum x) {
  switch (kind) {
    case TransformKind::kSigmoid:
      return Sigmoid(x, steepness);
    case TransformKind::kExp:
      return std::exp(x);
    case TransformKind::kStep:
      return x > 0 ? 1 : 0;
    case TransformKind::kSignedSquare:
      return std::copysign(x * x, x);
    case TransformKind::kLogOfExp:
      return std::log1p(std::exp(x));
    case TransformKind::kNone:
    case TransformKind::kSoftmax:
      break;
  }
  return x;
}

template <typename Sum>
void ApplyToRow(const Transform& transform, Sum* sums, size_t outputs) {
  if (transform.kind == TransformKind::kNone) return;
  if (transform.kind == TransformKind::kSoftmax) return Softmax(sums, outputs);
  for (size_t i = 0; i < outputs; ++i) {
    sums[i] = ApplyToOne(transform.kind, transform.steepness, sums[i]);
  }
}

}  // namespace

void Transform::Apply(float* sums, size_t outputs) const { ApplyToRow(*this, sums, outputs); }

void Transform::Apply(double* sums, size_t outputs) const { ApplyToRow(*this, sums, outputs); }

}  // namespace nereid_backend
