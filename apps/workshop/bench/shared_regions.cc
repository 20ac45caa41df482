// SPDX-License-Identifier: Apache-2.0
#include "bench/shared_regions.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/status_macros.h"
#include "bench/tensor_file.h"

namespace nereid::bench {
namespace {

constexpr char kInputs[] = "inputs";
constexpr char kOutputs[] = "outputs";
constexpr size_t kAlignment = 64;

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

absl::Status SystemFailure(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

std::string RegionName(const std::string& kind) {
  return absl::StrCat("nereid_bench_", getpid(), "_", kind);
}

absl::Status WriteAt(int fd, const std::string& bytes, size_t offset) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = pwrite(fd, bytes.data() + written, bytes.size() - written,
                                 static_cast<off_t>(offset + written));
    if (count < 0 && errno != EINTR) return SystemFailure("shared memory");
    written += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return absl::OkStatus();
}

// A new object of `bytes` bytes with the inputs in it, at the places of `places`.
absl::Status Fill(int fd, size_t bytes, const std::vector<RequestInputs>& requests,
                  const std::vector<RequestPlaces>& places) {
  // Not ftruncate: memory that is not there would end the server by SIGBUS.
  const int failed = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (failed != 0) {
    errno = failed;
    return SystemFailure(absl::StrCat("shared memory of ", bytes, " bytes"));
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    for (size_t j = 0; j < requests[i].size(); ++j) {
      RETURN_IF_ERROR(WriteAt(fd, requests[i][j].bytes, places[i].inputs[j].offset));
    }
  }
  return absl::OkStatus();
}

}  // namespace

size_t OutputBytes(const TensorDescription& output, int64_t batch_size, size_t output_bytes) {
  size_t bytes = DataTypeByteSize(output.type);
  for (size_t i = 0; i < output.shape.size(); ++i) {
    const int64_t dim = i == 0 && output.shape[i] < 0 ? batch_size : output.shape[i];
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes) ||
        bytes > kMostTensorBytes) {
      return output_bytes;
    }
  }
  return bytes > 0 ? bytes : output_bytes;
}

absl::StatusOr<std::unique_ptr<SharedRegions>> SharedRegions::Make(
    const ServerClient& client, const ModelDescription& model,
    const std::vector<RequestInputs>& requests, size_t output_bytes) {
  std::unique_ptr<SharedRegions> regions(new SharedRegions(client));
  size_t input_end = 0;
  size_t output_end = 0;
  for (const RequestInputs& inputs : requests) {
    RequestPlaces& places = regions->places_.emplace_back();
    for (const RequestInput& input : inputs) {
      places.inputs.push_back({RegionName(kInputs), input_end, input.bytes.size()});
      input_end += Aligned(input.bytes.size());
    }
    // All requests write to the same place, because nobody reads it.
    size_t end = 0;
    const int64_t batch_size = inputs.empty() || inputs[0].shape.empty() ? 1 : inputs[0].shape[0];
    for (const TensorDescription& output : model.outputs) {
      const size_t bytes = OutputBytes(output, batch_size, output_bytes);
      places.outputs.push_back({RegionName(kOutputs), end, bytes});
      end += Aligned(bytes);
    }
    output_end = std::max(output_end, end);
  }
  RETURN_IF_ERROR(regions->Add(kInputs, requests, std::max(input_end, kAlignment)));
  RETURN_IF_ERROR(regions->Add(kOutputs, {}, std::max(output_end, kAlignment)));
  return regions;
}

absl::Status SharedRegions::Add(const std::string& kind, const std::vector<RequestInputs>& requests,
                                size_t bytes) {
  const std::string name = RegionName(kind);
  const std::string key = "/" + name;
  const int fd = shm_open(key.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return SystemFailure(absl::StrCat("shared memory ", key));
  regions_.push_back({name, key});
  const absl::Status filled = Fill(fd, bytes, requests, places_);
  close(fd);
  RETURN_IF_ERROR(filled);
  const absl::Status registered = client_.RegisterMemory(name, key, bytes);
  if (!registered.ok()) {
    return absl::Status(registered.code(), absl::StrCat("the server does not take shared memory: ",
                                                        registered.message()));
  }
  regions_.back().registered = true;
  return absl::OkStatus();
}

SharedRegions::~SharedRegions() {
  for (const Region& region : regions_) {
    // A server that has gone has forgotten it anyway.
    if (region.registered) client_.UnregisterMemory(region.name).IgnoreError();
    shm_unlink(region.key.c_str());
  }
}

}  // namespace nereid::bench
