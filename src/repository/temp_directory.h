// TempDirectory: a new directory of this process for the files of one model, removed with all that
// is in it. Owned by what the model is loaded from. Immutable but for the files.
#ifndef NEREID_REPOSITORY_TEMP_DIRECTORY_H_
#define NEREID_REPOSITORY_TEMP_DIRECTORY_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

namespace nereid {

class TempDirectory {
 public:
  // INTERNAL where the machine refuses one.
  static absl::StatusOr<std::unique_ptr<TempDirectory>> Make();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TempDirectory(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace nereid

#endif  // NEREID_REPOSITORY_TEMP_DIRECTORY_H_
