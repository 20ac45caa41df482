// SPDX-License-Identifier: Apache-2.0
// CloudProgram: the CloudStore that is a program of its own (apps/cloud). It is started by the
// first question, and again by the next one if it has ended. A question to a program that ends
// meanwhile is asked once more. Thread-safe.
#ifndef NEREID_FILESYSTEM_CLOUD_CLOUD_PROGRAM_H_
#define NEREID_FILESYSTEM_CLOUD_CLOUD_PROGRAM_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "filesystem/cloud/cloud_store.h"

namespace nereid {

class CloudProgram final : public CloudStore {
 public:
  // The program may be silent for `patience_secs` during a question.
  CloudProgram(std::string path, uint32_t patience_secs)
      : path_(std::move(path)), patience_secs_(patience_secs) {}

  absl::StatusOr<std::vector<CloudObject>> List(const std::string& repository) override;
  absl::StatusOr<CloudObject> Stat(const std::string& repository, const std::string& path) override;
  absl::Status Fetch(const std::string& repository, const CloudObject& object,
                     const std::string& target) override;

 private:
  class Process;

  absl::StatusOr<CloudReply> Ask(const CloudRequest& request) ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<std::shared_ptr<Process>> Running() ABSL_LOCKS_EXCLUDED(mu_);
  void NoteEnd(const std::shared_ptr<Process>& process) ABSL_LOCKS_EXCLUDED(mu_);

  const std::string path_;
  const uint32_t patience_secs_;
  Mutex mu_;
  std::shared_ptr<Process> process_ ABSL_GUARDED_BY(mu_);  // null: it does not run
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_CLOUD_CLOUD_PROGRAM_H_
