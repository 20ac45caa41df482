// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_registry.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "backend_host/backend_location.h"
#include "base/json_writer.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

// A changed file means that another library must be loaded, so the path alone does not identify it.
// Python-based backends share a library and are identified by their own files.
std::string Key(const BackendLocation& location) {
  std::string key = location.library;
  if (location.model_owned) {
    std::error_code ignored;
    const auto time = fs::last_write_time(location.library, ignored).time_since_epoch().count();
    absl::StrAppend(&key, "@", time);
  }
  if (location.python_based) absl::StrAppend(&key, " ", location.code());
  return key;
}

// Backends compare paths that begin with the directory as text, so all of these paths, and the
// setting that names the directory, use the same spelling.
BackendRegistry::Options Cleaned(BackendRegistry::Options options) {
  options.directory = CleanPath(options.directory);
  return options;
}

}  // namespace

BackendRegistry::BackendRegistry(Options options) : options_(Cleaned(std::move(options))) {}

absl::StatusOr<std::shared_ptr<LoadedBackend>> BackendRegistry::Get(const ParsedConfig& config,
                                                                    const std::string& model_dir,
                                                                    int64_t version) {
  ASSIGN_OR_RETURN(const BackendLocation location,
                   LocateBackend(options_.directory, config, model_dir, version));
  const std::string& name = config.backend();
  std::shared_ptr<Slot> slot;
  {
    MutexLock lock(&mu_);
    std::shared_ptr<Slot>& entry = by_code_[Key(location)];
    if (entry == nullptr) entry = std::make_shared<Slot>();
    slot = entry;
  }
  {
    MutexLock lock(&slot->mu);
    while (slot->loading) slot->loaded.Wait(&slot->mu);
    if (slot->backend != nullptr) return slot->backend;
    slot->loading = true;
  }
  std::shared_ptr<LoadedBackend> backend;
  const auto end_loading = absl::MakeCleanup([&] {
    {
      MutexLock lock(&slot->mu);
      slot->loading = false;
      slot->backend = backend;
    }
    slot->loaded.NotifyAll();
  });
  ASSIGN_OR_RETURN(backend, LoadedBackend::Load(name, location, ConfigJson(name), options_.watch,
                                                options_.devices));
  // A copy, because `end_loading` still reads the original.
  return std::shared_ptr<LoadedBackend>(backend);
}

std::vector<std::shared_ptr<const LoadedBackend>> BackendRegistry::Loaded() {
  std::vector<std::shared_ptr<Slot>> slots;
  {
    MutexLock lock(&mu_);
    for (const auto& [key, slot] : by_code_) slots.push_back(slot);
  }
  std::vector<std::shared_ptr<const LoadedBackend>> loaded;
  for (const auto& slot : slots) {
    MutexLock lock(&slot->mu);
    if (slot->backend != nullptr) loaded.push_back(slot->backend);
  }
  std::sort(loaded.begin(), loaded.end(), [](const auto& a, const auto& b) {
    return std::tie(a->name(), a->code()) < std::tie(b->name(), b->code());
  });
  return loaded;
}

std::string BackendRegistry::ConfigJson(const std::string& backend) const {
  std::map<std::string, std::string> settings;
  for (const std::string& group : {std::string(), backend}) {
    const auto it = options_.settings.find(group);
    if (it == options_.settings.end()) continue;
    for (const auto& [key, value] : it->second) settings[key] = value;
  }
  settings["auto-complete-config"] = options_.auto_complete_config ? "true" : "false";
  const Devices& devices = *options_.devices;
  settings.emplace(
      "min-compute-capability",
      absl::StrFormat("%f", devices.used().empty() ? 0.0 : devices.min_compute_capability()));
  settings.emplace("backend-directory", options_.directory);
  settings.emplace("default-max-batch-size", "4");

  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.BeginObject("cmdline");
  for (const auto& [key, value] : settings) {
    writer.Add(key, value);
  }
  writer.EndObject();
  writer.EndObject();
  return json;
}

}  // namespace nereid
