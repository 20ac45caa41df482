// SPDX-License-Identifier: Apache-2.0
#include "backend_check/trial_result.h"

#include <algorithm>

namespace nereid {

void TrialResult::AddNote(const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

void TrialResult::AddFinding(const std::string& id, const std::string& detail) {
  for (Finding& finding : findings) {
    if (finding.id == id) {
      ++finding.count;
      return;
    }
  }
  findings.push_back({id, detail, 1});
}

void TrialResult::Add(const TrialResult& other) {
  for (const Finding& finding : other.findings) {
    const auto same = std::find_if(findings.begin(), findings.end(),
                                   [&](const Finding& mine) { return mine.id == finding.id; });
    if (same == findings.end()) {
      findings.push_back(finding);
    } else {
      same->count += finding.count;
    }
  }
  for (const std::string& note : other.notes) AddNote(note);
  if (cannot.empty()) cannot = other.cannot;
}

}  // namespace nereid
