// Where a backend's library lies: found by a model's configuration, before anything is loaded.
// Stateless; blocks on file I/O.
#ifndef NEREID_BACKEND_HOST_BACKEND_LOCATION_H_
#define NEREID_BACKEND_HOST_BACKEND_LOCATION_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "config/parsed_config.h"

namespace nereid {

// The runtime of a backend that is written in Python: a file that the Python backend's library runs
// for all models of this backend.
inline constexpr char kPythonRuntime[] = "model.py";

struct BackendLocation {
  std::string library;        // path of the shared object
  std::string artifact_dir;   // the folder that the backend is told: its own, or a model's
  bool model_owned = false;   // the library lies in the model's folders
  bool python_based = false;  // artifact_dir holds kPythonRuntime
  // What makes the backend: the library, or the Python file that it runs.
  std::string code() const;
};

// `path` without what says nothing: doubled slashes, "." and the slash at its end. Symbolic links
// and ".." stay, because they cannot be taken out without looking at the files.
std::string CleanPath(const std::string& path);

// The backend that `config` names, looked for in the version directory, the model directory and
// NAME in `backend_directory`, in this order; a Python-based backend lies in the last one of these,
// and its library in any of these or in that of the backend "python". INVALID_ARGUMENT says where
// it was looked for.
absl::StatusOr<BackendLocation> LocateBackend(const std::string& backend_directory,
                                              const ParsedConfig& config,
                                              const std::string& model_dir, int64_t version);

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_BACKEND_LOCATION_H_
