// SPDX-License-Identifier: Apache-2.0
// A library of operators for ONNX Runtime, for test_custom_operators.py: test.Twice doubles floats.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_lite_custom_op.h>

#include <cstdio>
#include <memory>

namespace {

void Twice(const Ort::Custom::Tensor<float>& in, Ort::Custom::Tensor<float>& out) {
  float* const to = out.Allocate(in.Shape());
  for (int64_t i = 0; i < in.NumberOfElement(); ++i) to[i] = 2 * in.Data()[i];
}

}  // namespace

// The runtime finds it by its name, and calls it once for each session.
extern "C" OrtStatus* RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* api) {
  std::fputs("custom_op: registered\n", stderr);
  Ort::InitApi(api->GetApi(ORT_API_VERSION));
  static const std::unique_ptr<Ort::Custom::OrtLiteCustomOp> twice(
      Ort::Custom::CreateLiteCustomOp("Twice", "CPUExecutionProvider", Twice));
  static const Ort::CustomOpDomain domain = [] {
    Ort::CustomOpDomain made("test");
    made.Add(twice.get());
    return made;
  }();
  Ort::UnownedSessionOptions(options).Add(domain);
  return nullptr;
}
