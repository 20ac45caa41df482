// SPDX-License-Identifier: Apache-2.0
// Diagnostics: collects everything that is wrong with one configuration, so that a user who made
// five mistakes learns of all five at once. Lives for one check. Thread-compatible.
#ifndef NEREID_CONFIG_DIAGNOSTICS_H_
#define NEREID_CONFIG_DIAGNOSTICS_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <string>
#include <vector>

namespace nereid {

struct Problem {
  std::string field;  // path in the configuration, for instance "input[0].dims"
  std::string text;   // matched by clients and scripts, so exactly as the protocol has it
  std::string hint;   // what would be right
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  bool missing = false;  // nothing is given that is wrong: a backend may still complete it
};

class Diagnostics {
 public:
  void Add(std::string field, std::string text, std::string hint,
           absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    problems_.push_back({std::move(field), std::move(text), std::move(hint), code});
  }

  // The field is not given. Otherwise as Add.
  void AddMissing(std::string field, std::string text, std::string hint) {
    Add(std::move(field), std::move(text), std::move(hint));
    problems_.back().missing = true;
  }

  const std::vector<Problem>& problems() const { return problems_; }

  // OK if there are no problems; "<text> (<field>: <hint>)" for one; for several, a numbered list
  // that begins with "the configuration of model '<model>' has N problems:". The code is that of
  // the problems if they agree, otherwise INVALID_ARGUMENT.
  absl::Status ToStatus(absl::string_view model) const;

 private:
  std::vector<Problem> problems_;
};

}  // namespace nereid

#endif  // NEREID_CONFIG_DIAGNOSTICS_H_
