// SPDX-License-Identifier: Apache-2.0
// Files for tests: a folder that is removed with its test, archives, and scripts that stand in for
// Python interpreters. Thread-compatible.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_TESTING_FILES_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_TESTING_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "backends/python/environment/variables.h"

namespace nereid_backend::testing {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  // Creates or replaces a file and the folders above it; returns its path.
  std::string Write(const std::string& name, const std::string& content, int mode = 0600) const;
  // A shell script that can be run.
  std::string Script(const std::string& name, const std::string& commands) const;

 private:
  std::string path_;
};

// One file of an archive; with `link`, a symbolic one; with `hard_link`, the other kind.
struct ArchivedFile {
  std::string path;
  std::string content;
  int mode = 0644;
  std::string link = {};
  std::string hard_link = {};
};

enum class ArchiveKind { kTar, kTarGz, kZip };
void WriteArchive(const std::string& path, ArchiveKind kind,
                  const std::vector<ArchivedFile>& files);

std::string ReadText(const std::string& path);

// The text that a script must print to pass for an interpreter. `executable`: the path that it
// reports.
std::string InterpreterAnswer(const std::string& version, const std::string& executable,
                              const std::string& more = R"("has_numpy":true)");

// A Python that can run models, apart from numpy; empty if this machine has none.
std::optional<std::string> RealPython();
// The test's own variables with a folder on the Python path that holds something named numpy.
Variables WithNumpy(const TempFolder& folder);

}  // namespace nereid_backend::testing

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_TESTING_FILES_H_
