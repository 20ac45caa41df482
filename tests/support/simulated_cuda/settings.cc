// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulated_cuda/settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace nereid::simulated_cuda {
namespace {

[[noreturn]] void Refuse(const char* name, const std::string& value) {
  std::fprintf(stderr, "simulated driver: %s=%s cannot be read\n", name, value.c_str());
  std::abort();
}

std::string Text(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

uint64_t Number(const char* name, const char* otherwise) {
  const std::string text = Text(name, otherwise);
  char* end = nullptr;
  const uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') Refuse(name, text);
  return number;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// The number of a GPU named by its number or by the beginning of its UUID; -1 if it names none.
int Named(const std::string& name, int count) {
  for (int number = 0; number < count; ++number) {
    char uuid[64];
    std::snprintf(uuid, sizeof(uuid), "GPU-%08x", number);
    if (name == std::to_string(number)) return number;
    if (name.size() >= 12 && name.compare(0, 12, uuid) == 0) return number;
  }
  return -1;
}

// As the driver does: the list ends at the first entry that names no GPU.
std::vector<int> Visible(int count) {
  std::vector<int> visible;
  if (const char* list = std::getenv("CUDA_VISIBLE_DEVICES")) {
    for (const std::string& name : Split(list, ',')) {
      const int number = Named(name, count);
      if (number < 0) break;
      visible.push_back(number);
    }
    return visible;
  }
  for (int number = 0; number < count; ++number) visible.push_back(number);
  return visible;
}

std::vector<Fault> ReadFaults() {
  const std::string text = Text("SIMULATED_CUDA_FAULTS", "");
  std::vector<Fault> faults;
  for (const std::string& entry : Split(text, ',')) {
    const std::vector<std::string> parts = Split(entry, ':');
    if (parts.size() != 3) Refuse("SIMULATED_CUDA_FAULTS", text);
    faults.push_back(
        {parts[0], std::strtoull(parts[1].c_str(), nullptr, 10), std::atoi(parts[2].c_str())});
    if (faults.back().nth == 0 || faults.back().result == 0) {
      Refuse("SIMULATED_CUDA_FAULTS", text);
    }
  }
  return faults;
}

}  // namespace

Settings ReadSettings() {
  Settings settings;
  settings.visible = Visible(static_cast<int>(Number("SIMULATED_CUDA_GPUS", "1")));
  settings.bytes_per_gpu = Number("SIMULATED_CUDA_MB", "1024") << 20;
  settings.seed = static_cast<uint32_t>(Number("SIMULATED_CUDA_SEED", "0"));
  settings.init_result = static_cast<cuda::Result>(Number("SIMULATED_CUDA_INIT", "0"));
  const std::string capability = Text("SIMULATED_CUDA_CAPABILITY", "9.0");
  if (std::sscanf(capability.c_str(), "%d.%d", &settings.capability_major,
                  &settings.capability_minor) != 2) {
    Refuse("SIMULATED_CUDA_CAPABILITY", capability);
  }
  settings.faults = ReadFaults();
  settings.wait_us = static_cast<unsigned>(Number("SIMULATED_CUDA_WAIT_US", "0"));
  return settings;
}

std::string BusIdOf(int number) {
  char id[32];
  std::snprintf(id, sizeof(id), "0000:%02x:00.0", 0x3b + number);
  return id;
}

cuda::Uuid UuidOf(int number) {
  cuda::Uuid uuid = {};
  uuid.bytes[3] = static_cast<unsigned char>(number);
  for (int i = 4; i < 16; ++i) uuid.bytes[i] = static_cast<unsigned char>(0x10 * number + i);
  return uuid;
}

}  // namespace nereid::simulated_cuda
