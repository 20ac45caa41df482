// SPDX-License-Identifier: Apache-2.0
// TrialResult: what was found in one trial, or in all of them. Plain values.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_RESULT_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_RESULT_H_

#include <string>
#include <vector>

namespace nereid {

struct Finding {
  std::string id;      // findings.h
  std::string detail;  // where, and what exactly
  int count = 1;
};

struct TrialResult {
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::string cannot;  // why the check can not be made; empty: it was made
  bool complete = false;
  std::string output;  // the end of what the process wrote

  // Notes that are there already are left out.
  void AddNote(const std::string& note);
  // A further finding of a kind that is there already only counts.
  void AddFinding(const std::string& id, const std::string& detail);
  // Adds the findings and notes of a further trial.
  void Add(const TrialResult& other);
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_RESULT_H_
