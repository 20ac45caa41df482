#include "backends/python/environment/packed_environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "backends/python/environment/archive.h"
#include "backends/python/environment/built_folder.h"
#include "backends/python/environment/run_program.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kProgressEvery(5);
constexpr std::chrono::minutes kCondaUnpackLimit(10);

// conda-pack puts a program into its archives that writes the environment's new path into its
// files.
Error RunCondaUnpack(const PackedEnvironment& packed, const std::string& folder) {
  const std::string program = folder + "/bin/conda-unpack";
  const std::string interpreter = InterpreterIn(folder);
  if (access(program.c_str(), F_OK) != 0 || interpreter.empty()) return Error();
  Program run;
  run.arguments = {interpreter, program};
  run.variables = packed.variables;
  run.variables.Remove("PYTHONHOME");
  run.limit = kCondaUnpackLimit;
  run.starter = interpreter;
  NB_ASSIGN_OR_RETURN(const ProgramEnd end, RunProgram(run));
  if (end.ok) return Error();
  return Error::Internal(StrCat("bin/conda-unpack of '", packed.archive, "' ", end.how,
                                ", and wrote:\n", JoinLines(end.tail)));
}

Error Make(const PackedEnvironment& packed, int64_t size, const std::string& folder) {
  const Clock::time_point start = Clock::now();
  Clock::time_point told = start;
  NB_LOG_INFO("model '", packed.model, "': unpacking '", packed.archive, "' into '", folder, "'");
  NB_RETURN_IF_ERROR(Unpack(packed.archive, folder, [&](int64_t bytes) {
    if (Clock::now() < told + kProgressEvery) return;
    told = Clock::now();
    NB_LOG_INFO("model '", packed.model, "': ", size > 0 ? bytes * 100 / size : 0, " % of '",
                packed.archive, "' unpacked");
  }));
  NB_RETURN_IF_ERROR(RunCondaUnpack(packed, folder));
  const std::chrono::duration<double> seconds = Clock::now() - start;
  NB_LOG_INFO("model '", packed.model, "': unpacked '", packed.archive, "' in ", seconds.count(),
              " s");
  return Error();
}

}  // namespace

Result<std::string> UnpackEnvironment(const PackedEnvironment& packed) {
  struct stat status {};
  if (stat(packed.archive.c_str(), &status) != 0) {
    return Error::NotFound(StrCat("can not read '", packed.archive, "': ", std::strerror(errno)));
  }
  FolderRequest request;
  request.cache = packed.cache;
  request.key = "unpacked-" + KeyOfTexts({packed.archive, std::to_string(status.st_size),
                                          std::to_string(status.st_mtim.tv_sec),
                                          std::to_string(status.st_mtim.tv_nsec)});
  request.what = StrCat("what is in '", packed.archive, "'");
  request.make = [&](const std::string& folder) { return Make(packed, status.st_size, folder); };
  return GetBuiltFolder(request);
}

std::string InterpreterIn(const std::string& environment) {
  for (const char* name : {"/bin/python3", "/bin/python"}) {
    const std::string path = environment + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

}  // namespace nereid_backend
