// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as an ONNX file, without a fault. What else is in the file, before and behind,
// does not change what is read: so the window through which the file is seen may begin anywhere.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "backends/onnxruntime/declared_signature.h"
#include "backends/onnxruntime/needed_part.h"

namespace {

using nereid_backend::ModelTensor;
using nereid_backend::NeededPart;
using nereid_backend::OutputNames;
using nereid_backend::Signature;

std::string FileWith(const std::string& bytes) {
  static const int file = memfd_create("model", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ftruncate(file, 0) != 0 ||
      pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  return path;
}

std::optional<Signature> Read(const std::string& bytes) {
  return nereid_backend::ReadDeclaredSignature(FileWith(bytes));
}

// The part of a file that its first output needs has the same inputs, and no smaller part.
void TestNeededPart(const std::string& model, const Signature& whole) {
  if (whole.outputs.empty()) return;
  const OutputNames first = {whole.outputs[0].name};
  const std::optional<NeededPart> part = nereid_backend::ReadNeededPart(FileWith(model), first);
  if (!part.has_value()) return;
  const std::optional<Signature> signature = Read(part->model);
  const auto inputs = [](const Signature& one) { return one.inputs.size() + one.defaulted.size(); };
  if (!signature.has_value() || inputs(*signature) != inputs(whole)) std::abort();
  if (nereid_backend::ReadNeededPart(FileWith(part->model), first).has_value()) std::abort();
}

// A field of bytes that the reader skips: producer_name.
std::string OtherField(size_t size) {
  std::string field = {0x12, static_cast<char>(size % 128 | 128), static_cast<char>(size / 128)};
  return field + std::string(size, 'p');
}

std::string TextOf(const Signature& signature) {
  std::string text;
  for (const auto* tensors : {&signature.inputs, &signature.outputs, &signature.defaulted}) {
    for (const ModelTensor& tensor : *tensors) {
      text += tensor.name + "|" + tensor.first_name + (tensor.is_tensor ? "|" : "!");
      for (const int64_t dim : tensor.dims) {
        if (dim < -1) std::abort();
        text += std::to_string(dim) + ",";
      }
      if (!tensor.first_name.empty() && !tensor.first_is_open()) std::abort();
    }
    text += ";";
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string model(reinterpret_cast<const char*>(data), size);
  const std::optional<Signature> plain = Read(model);
  // The window has 4096 bytes, of which the other field leaves a few.
  const size_t moved_by = 4080 + (size == 0 ? 0 : data[size / 2] % 16);
  const std::optional<Signature> moved = Read(OtherField(moved_by) + model);
  if (plain.has_value() != moved.has_value()) std::abort();
  if (!plain.has_value()) return 0;
  if (TextOf(*plain) != TextOf(*moved)) std::abort();
  const std::optional<Signature> longer = Read(model + OtherField(100));
  if (!longer.has_value() || TextOf(*plain) != TextOf(*longer)) std::abort();
  TestNeededPart(model, *plain);
  return 0;
}
