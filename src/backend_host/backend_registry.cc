#include "backend_host/backend_registry.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/json_writer.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// True if `library` is a plain file name, so that it cannot lead out of the folders searched.
bool StaysInside(const std::string& library) {
  return library.find('/') == std::string::npos && library != ".." && library != ".";
}

// Where a file was changed, another library has to be loaded: its path alone does not say that.
std::string PathKey(const std::string& path, bool model_owned) {
  if (!model_owned) return path;
  std::error_code ignored;
  const auto time = fs::last_write_time(path, ignored).time_since_epoch().count();
  return absl::StrCat(path, "@", time);
}

// For backends of ours that an installation need not have.
std::string HowToGet(const std::string& backend) {
  static constexpr std::array<std::string_view, 3> kOptional = {"openvino", "pytorch",
                                                                "tensorflow"};
  if (std::find(kOptional.begin(), kOptional.end(), backend) == kOptional.end()) return "";
  return absl::StrCat("(`make stage BACKENDS=", backend, "` installs it)");
}

}  // namespace

absl::StatusOr<std::shared_ptr<BackendHandle>> BackendRegistry::Get(const ParsedConfig& config,
                                                                    const std::string& model_dir,
                                                                    int64_t version) {
  const std::string& name = config.backend();
  if (name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model '", config.name(), "' names no backend; set 'backend' in config.pbtxt"));
  }
  const std::string library =
      config.runtime().empty() ? absl::StrCat("libtriton_", name, ".so") : config.runtime();
  const fs::path backend_dir = fs::path(options_.directory) / name;
  if (!StaysInside(library) || !StaysInside(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "backend library name '", library, "' escapes backend directory '", backend_dir.string(),
        "', for model '", config.name(), "', check model config runtime field"));
  }
  const std::array<fs::path, 3> folders = {fs::path(model_dir) / absl::StrCat(version), model_dir,
                                           backend_dir};
  for (size_t i = 0; i < folders.size(); ++i) {
    const std::string path = (folders[i] / library).string();
    if (!IsFile(path)) continue;
    const bool model_owned = i < 2;
    std::shared_ptr<Slot> slot;
    {
      MutexLock lock(&mu_);
      std::shared_ptr<Slot>& entry = by_path_[PathKey(path, model_owned)];
      if (entry == nullptr) entry = std::make_shared<Slot>();
      slot = entry;
    }
    {
      MutexLock lock(&slot->mu);
      while (slot->loading) slot->loaded.Wait(&slot->mu);
      if (slot->backend != nullptr) return slot->backend;
      slot->loading = true;
    }
    std::shared_ptr<BackendHandle> backend;
    const auto end_loading = absl::MakeCleanup([&] {
      {
        MutexLock lock(&slot->mu);
        slot->loading = false;
        slot->backend = backend;
      }
      slot->loaded.NotifyAll();
    });
    ASSIGN_OR_RETURN(backend, BackendHandle::Load(name, path, folders[i].string(), model_owned,
                                                  ConfigJson(name)));
    // A copy, because `end_loading` still reads the original.
    return std::shared_ptr<BackendHandle>(backend);
  }
  const std::string searched = absl::StrCat("'", folders[0].string(), "' '", folders[1].string(),
                                            "' '", folders[2].string(), "' ");
  if (config.runtime().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unable to find backend library for backend '", name,
                     "', try specifying runtime on the model configuration. Searched: ", searched,
                     HowToGet(name)));
  }
  return absl::InvalidArgumentError(absl::StrCat("unable to find backend library '", library,
                                                 "' for model '", config.name(),
                                                 "', searched: ", searched));
}

std::string BackendRegistry::ConfigJson(const std::string& backend) const {
  std::map<std::string, std::string> settings;
  for (const std::string& group : {std::string(), backend}) {
    const auto it = options_.settings.find(group);
    if (it == options_.settings.end()) continue;
    for (const auto& [key, value] : it->second) settings[key] = value;
  }
  settings["auto-complete-config"] = options_.auto_complete_config ? "true" : "false";
  settings.emplace("min-compute-capability", "0.000000");
  settings.emplace("backend-directory", options_.directory);
  settings.emplace("default-max-batch-size", "4");

  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("cmdline");
  writer.BeginObject();
  for (const auto& [key, value] : settings) {
    writer.Key(key);
    writer.String(value);
  }
  writer.EndObject();
  writer.EndObject();
  return json;
}

}  // namespace nereid
