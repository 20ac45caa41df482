// SPDX-License-Identifier: Apache-2.0
// Recorder: what the checked process reports, line by line and at once, to the command that started
// it, so that nothing is lost when the backend crashes. One per process, as the backend's calls
// carry no context. Thread-safe.
//
// A line is KIND, TEXT and, for findings, a second TEXT, separated by tabs.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_RECORDER_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_RECORDER_H_

#include <map>
#include <string>

#include "base/mutex.h"

namespace nereid {

class Recorder {
 public:
  static Recorder& Get();

  // Lines go to the descriptor `fd` from now on; before that they are lost.
  void Open(int fd) ABSL_LOCKS_EXCLUDED(mu_);
  // A step of the check begins.
  void Phase(const std::string& text) ABSL_LOCKS_EXCLUDED(mu_);
  // A function of the backend is called.
  void Call(const char* function) ABSL_LOCKS_EXCLUDED(mu_);
  // A finding of the kind `id` (findings.h). Of each kind the first is written with its `detail`;
  // of the others the number.
  void Found(const char* id, const std::string& detail) ABSL_LOCKS_EXCLUDED(mu_);
  void Note(const std::string& text) ABSL_LOCKS_EXCLUDED(mu_);
  // The check can not be made, which is not the backend's fault.
  void Cannot(const std::string& text) ABSL_LOCKS_EXCLUDED(mu_);
  // The trial has come to its end.
  void Done() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Write(const char* kind, const std::string& text, const std::string& detail = "")
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  int fd_ ABSL_GUARDED_BY(mu_) = -1;
  std::string phase_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, int> counts_ ABSL_GUARDED_BY(mu_);  // by the kind of finding
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_RECORDER_H_
