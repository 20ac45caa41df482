#include "lifecycle/model/output_labels.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <utility>
#include <vector>

namespace nereid {

absl::StatusOr<OutputLabels> ReadLabels(const FileSystem& fs, const CompiledModel& model,
                                        const std::string& model_dir) {
  OutputLabels labels;
  for (const OutputSpec& output : model.outputs) {
    if (output.label_filename.empty()) continue;
    const std::string path = absl::StrCat(model_dir, "/", output.label_filename);
    absl::StatusOr<std::string> text = fs.ReadFile(path);
    if (!text.ok()) {
      return absl::Status(text.status().code(),
                          absl::StrCat("labels of output '", output.name, "' of model '",
                                       model.name, "': ", text.status().message()));
    }
    std::vector<std::string> lines = absl::StrSplit(*text, '\n');
    for (std::string& line : lines) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
    }
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    labels[output.name] = std::move(lines);
  }
  return labels;
}

}  // namespace nereid
