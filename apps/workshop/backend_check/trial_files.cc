// SPDX-License-Identifier: Apache-2.0
#include "backend_check/trial_files.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr char kConfig[] = "config.pbtxt";
constexpr char kMadeUpModel[] = "trial";
constexpr char kMadeUpTensors[] =
    "max_batch_size: 4\n"
    "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ 4 ] } ]\n"
    "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ 4 ] } ]\n";

absl::Status WriteText(const fs::path& path, const std::string& text,
                       std::ios::openmode mode = std::ios::trunc) {
  std::ofstream file(path, std::ios::out | mode);
  file << text;
  file.flush();
  if (file.good()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot write '", path.string(), "'"));
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Links to everything in the folder `from`, but for the configuration, of which it makes a copy.
absl::Status CopyModel(const fs::path& from, const fs::path& to, const std::string& backend) {
  RETURN_IF_ERROR(LinkModelFiles(from.string(), to.string()));
  std::error_code error;
  const bool configured = fs::exists(from / kConfig, error);
  return WriteText(to / kConfig, configured ? ReadText(from / kConfig) + "\n"
                                            : absl::StrCat("backend: \"", backend, "\"\n"));
}

}  // namespace

absl::Status LinkModelFiles(const std::string& from, const std::string& to) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    if (entry.path().filename() == kConfig) continue;
    fs::create_symlink(entry.path(), fs::path(to) / entry.path().filename(), error);
    if (error) break;
  }
  if (!error) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("cannot link to the files of '", from, "': ", error.message()));
}

std::string TrialFiles::BackendName(const std::string& library) {
  const std::string file = fs::path(library).filename().string();
  absl::string_view name = file;
  if (!absl::ConsumePrefix(&name, "libtriton_") || !absl::ConsumeSuffix(&name, ".so")) return "";
  return std::string(name);
}

absl::StatusOr<std::unique_ptr<TrialFiles>> TrialFiles::Make(const std::string& library,
                                                             const std::string& model) {
  std::error_code error;
  const std::string backend = BackendName(library);
  const fs::path file = fs::absolute(library, error);
  if (backend.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", library, "' is not named libtriton_NAME.so, as the server looks for it"));
  }
  const fs::path source = model.empty() ? fs::path() : fs::canonical(model, error);
  if (error || (!model.empty() && !fs::is_directory(source, error))) {
    return absl::InvalidArgumentError(absl::StrCat("there is no folder of a model '", model, "'"));
  }
  const std::string name = model.empty() ? kMadeUpModel : source.filename().string();
  ASSIGN_OR_RETURN(std::unique_ptr<TempDirectory> folder, TempDirectory::Make());
  std::unique_ptr<TrialFiles> files(new TrialFiles(std::move(folder), name));
  const fs::path made = fs::path(files->repository()) / name;
  fs::create_directories(made, error);
  if (!error) fs::create_directories(files->backends(), error);
  // The whole folder, as backends look for further files beside their library.
  if (!error) {
    fs::create_directory_symlink(file.parent_path(), fs::path(files->backends()) / backend, error);
  }
  if (error) return absl::InternalError(absl::StrCat("no files for a trial: ", error.message()));
  if (!model.empty()) {
    RETURN_IF_ERROR(CopyModel(source, made, backend));
    return files;
  }
  fs::create_directory(made / "1", error);
  RETURN_IF_ERROR(
      WriteText(made / kConfig, absl::StrCat("backend: \"", backend, "\"\n", kMadeUpTensors)));
  return files;
}

absl::Status WidenTrialModel(const std::string& folder, const CompiledModel& loaded) {
  std::string more = "instance_group [ { count: 2 kind: KIND_CPU } ]\n";
  if (loaded.max_batch_size > 1 && !loaded.batching.enabled && !loaded.sequence.enabled) {
    absl::StrAppend(&more, "dynamic_batching { preferred_batch_size: [ ",
                    std::min(loaded.max_batch_size, 4),
                    " ] max_queue_delay_microseconds: 100000 }\n");
  }
  return WriteText(fs::path(folder) / kConfig, more, std::ios::app);
}

}  // namespace nereid
