// SPDX-License-Identifier: Apache-2.0
#include "backend_check/report.h"

#include <absl/strings/str_cat.h>

#include "backend_check/findings.h"
#include "base/json_writer.h"

namespace nereid {

std::string BackendReportText(const std::string& subject, const TrialResult& result) {
  std::string text = absl::StrCat(subject, "\n");
  for (const Finding& finding : result.findings) {
    const FindingKind* const kind = FindFindingKind(finding.id);
    if (kind == nullptr) continue;
    absl::StrAppend(&text, "\nFINDING ", finding.id, ": ", kind->what,
                    "\n  where:  ", finding.detail);
    if (finding.count > 1) absl::StrAppend(&text, " (and ", finding.count - 1, " more)");
    absl::StrAppend(&text, "\n  why:    ", kind->why, "\n  right:  ", kind->right, "\n");
  }
  if (!result.notes.empty()) absl::StrAppend(&text, "\n");
  for (const std::string& note : result.notes) absl::StrAppend(&text, "note: ", note, "\n");
  const size_t count = result.findings.size();
  absl::StrAppend(&text, "\n", count == 0 ? "no" : absl::StrCat(count),
                  count == 1 ? " finding\n" : " findings\n");
  return text;
}

std::string BackendReportJson(const std::string& library, const TrialResult& result) {
  std::string json;
  JsonWriter writer(&json);
  const auto text = [&](const char* key, const std::string& value) { writer.Add(key, value); };
  writer.BeginObject();
  text("library", library);
  writer.BeginArray("findings");
  for (const Finding& finding : result.findings) {
    const FindingKind* const kind = FindFindingKind(finding.id);
    if (kind == nullptr) continue;
    writer.BeginObject();
    text("id", finding.id);
    writer.Add("count", finding.count);
    text("where", finding.detail);
    text("what", kind->what);
    text("why", kind->why);
    text("right", kind->right);
    writer.EndObject();
  }
  writer.EndArray();
  writer.BeginArray("notes");
  for (const std::string& note : result.notes) writer.String(note);
  writer.EndArray();
  writer.EndObject();
  return json + "\n";
}

}  // namespace nereid
