// SPDX-License-Identifier: Apache-2.0
#include "workshop.h"

#include <unistd.h>

#include <cerrno>
#include <ostream>
#include <system_error>

#include "base/installation.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr int kNoWorkshop = 2;
constexpr char kProgram[] = "nereid-workshop";

}  // namespace

fs::path WorkshopProgram(const fs::path& nereid) {
  return InstalledFolder(nereid, "libexec") / kProgram;
}

int BecomeWorkshop(const fs::path& workshop, const fs::path& nereid,
                   const std::vector<std::string>& words, std::ostream& err) {
  std::vector<std::string> line = {nereid.string()};
  line.insert(line.end(), words.begin(), words.end());
  std::vector<char*> argv;
  argv.reserve(line.size() + 1);
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(workshop.c_str(), argv.data());
  const std::string reason = std::generic_category().message(errno);
  err << "nereid " << words.front() << ": cannot start the program " << workshop.string()
      << ", which does this: " << reason
      << "; the package nereid contains it, and `make stage` builds it\n";
  return kNoWorkshop;
}

int RunInWorkshop(const std::vector<std::string>& words, std::ostream& err) {
  std::error_code error;
  const fs::path nereid = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    err << "nereid " << words.front()
        << ": the path of this program, from which the program that does this is found, is not "
           "known: "
        << error.message() << "\n";
    return kNoWorkshop;
  }
  return BecomeWorkshop(WorkshopProgram(nereid), nereid, words, err);
}

}  // namespace nereid
