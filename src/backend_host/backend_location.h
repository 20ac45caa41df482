// SPDX-License-Identifier: Apache-2.0
// Locates a backend's library from a model's configuration, before anything is loaded. Stateless;
// blocks on file I/O.
#ifndef NEREID_BACKEND_HOST_BACKEND_LOCATION_H_
#define NEREID_BACKEND_HOST_BACKEND_LOCATION_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "config/parsed_config.h"

namespace nereid {

// The runtime file of a backend written in Python. The Python backend's library runs it for all
// models of this backend.
inline constexpr char kPythonRuntime[] = "model.py";

struct BackendLocation {
  std::string library;        // path of the shared object
  std::string artifact_dir;   // the folder reported to the backend: its own or a model's
  bool model_owned = false;   // the library is in the model's folders
  bool python_based = false;  // artifact_dir holds kPythonRuntime
  // Path of the backend's code: the library, or the Python file that the library runs.
  std::string code() const;
};

// `path` without redundant parts: doubled slashes, "." and a trailing slash. Symbolic links and
// ".." stay, because they cannot be resolved without looking at the files.
std::string CleanPath(const std::string& path);

// Finds the backend that `config` names. Searches the version directory, the model directory and
// NAME in `backend_directory`, in this order. A Python-based backend is found only in the last of
// these; its library may be in any of these or in that of the backend "python". INVALID_ARGUMENT
// lists the places searched.
absl::StatusOr<BackendLocation> LocateBackend(const std::string& backend_directory,
                                              const ParsedConfig& config,
                                              const std::string& model_dir, int64_t version);

// Empty if `backend_directory` has a folder of the backend `name`; otherwise a line for the log
// that settings were given for a backend that it lacks, with the name that may have been meant.
std::string DescribeMissingBackend(const std::string& backend_directory, const std::string& name);

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_BACKEND_LOCATION_H_
