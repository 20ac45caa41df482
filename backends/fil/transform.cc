// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "backends/fil/forest.h"

namespace nereid_backend {
namespace {

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

// Treelite, whose sums may be doubles, rounds in between.
template <typename Sum>
void SoftmaxOfFloats(Sum* sums, size_t outputs) {
  const auto greatest = static_cast<float>(*std::max_element(sums, sums + outputs));
  double total = 0;
  for (size_t i = 0; i < outputs; ++i) {
    sums[i] = static_cast<float>(std::exp(sums[i] - greatest));
    total += sums[i];
  }
  for (size_t i = 0; i < outputs; ++i) sums[i] /= static_cast<float>(total);
}

template <typename Sum>
Sum Sigmoid(const Transform& transform, Sum x) {
  const Sum exponent = -static_cast<Sum>(transform.steepness) * x;
  return 1 / (1 + std::exp(std::min(exponent, static_cast<Sum>(transform.most_exponent))));
}

template <typename Sum>
Sum ApplyToOne(const Transform& transform, Sum x) {
  switch (transform.kind) {
    case TransformKind::kSigmoid:
      return Sigmoid(transform, x);
    case TransformKind::kExp:
      return std::exp(x);
    case TransformKind::kExp2:
      return std::exp2(-x / static_cast<Sum>(transform.ratio));
    case TransformKind::kStep:
      return x > 0 ? 1 : 0;
    case TransformKind::kSignedSquare:
      return std::copysign(x * x, x);
    case TransformKind::kLogOfExp:
      return std::log1p(std::exp(x));
    case TransformKind::kNone:
    case TransformKind::kSoftmax:
    case TransformKind::kSoftmaxOfFloats:
      break;
  }
  return x;
}

template <typename Sum>
void ApplyToRow(const Transform& transform, Sum* sums, size_t outputs) {
  if (transform.kind == TransformKind::kNone) return;
  if (transform.kind == TransformKind::kSoftmax) return Softmax(sums, outputs);
  if (transform.kind == TransformKind::kSoftmaxOfFloats) return SoftmaxOfFloats(sums, outputs);
  for (size_t i = 0; i < outputs; ++i) sums[i] = ApplyToOne(transform, sums[i]);
}

}  // namespace

void Transform::Apply(float* sums, size_t outputs) const { ApplyToRow(*this, sums, outputs); }

void Transform::Apply(double* sums, size_t outputs) const { ApplyToRow(*this, sums, outputs); }

}  // namespace nereid_backend
