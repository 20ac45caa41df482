// SPDX-License-Identifier: Apache-2.0
// PrivateServer: a server of one model for measurements, a child process that ends with this one.
// It serves copies of the folders of the models that are tuned, in which the configuration is
// another one; other files are links. Used by one thread.
#ifndef NEREID_APPS_WORKSHOP_TUNE_PRIVATE_SERVER_H_
#define NEREID_APPS_WORKSHOP_TUNE_PRIVATE_SERVER_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "child_process/child_process.h"
#include "filesystem/temp_directory.h"
#include "probe/probe_request.h"
#include "tune/config_file.h"

namespace nereid {

// The model, and how it is served. A plain value.
struct PrivateModel {
  std::string program;                   // this executable
  std::string repository;                // the folder of the model's folder
  std::string name;                      // of the model, and of its folder
  std::vector<std::string> load_models;  // others of the repository that it needs
  std::vector<std::string> options;      // of the server
  std::string backend_directory;         // as the server has it
};

class PrivateServer {
 public:
  // Serves `model` with these configurations, which are its own or those of its steps. Blocks until
  // the model is loaded. FAILED_PRECONDITION in the server's words if it does not load, CANCELLED
  // if `interrupted` says so meanwhile.
  static absl::StatusOr<std::unique_ptr<PrivateServer>> Start(
      const PrivateModel& model, const std::vector<ConfigText>& configs,
      const std::function<bool()>& interrupted);
  // Ends the server in good order, and by force if that takes too long.
  ~PrivateServer();
  PrivateServer(const PrivateServer&) = delete;
  PrivateServer& operator=(const PrivateServer&) = delete;

  const ProbeTarget& target() const { return target_; }
  // Of all its processes.
  double MemoryMib() const;
  double CpuSeconds() const;

 private:
  explicit PrivateServer(std::unique_ptr<TempDirectory> folder) : folder_(std::move(folder)) {}

  absl::Status WriteFiles(const PrivateModel& model, const std::vector<ConfigText>& configs);
  absl::Status Launch(const PrivateModel& model);
  // Until the server has printed its port.
  absl::Status AwaitPort(const PrivateModel& model, const std::function<bool()>& interrupted);
  std::string repository() const { return folder_->path() + "/models"; }
  std::string log_file() const { return folder_->path() + "/log"; }

  const std::unique_ptr<TempDirectory> folder_;
  std::unique_ptr<ChildProcess> process_;
  ProbeTarget target_;
};

// Why a server did not start: the error of its log that names a model, or else the last one,
// without place and time.
std::string LoadErrorOf(const std::string& log);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_PRIVATE_SERVER_H_
