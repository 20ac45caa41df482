// SPDX-License-Identifier: Apache-2.0
// IpcPeer: the program testing/ipc_peer.cc, which has memory on a simulated GPU. Used by one
// thread.
#ifndef NEREID_DEVICE_TESTING_IPC_PEER_PROCESS_H_
#define NEREID_DEVICE_TESTING_IPC_PEER_PROCESS_H_

#include <absl/strings/escaping.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

namespace nereid {

class IpcPeer {
 public:
  explicit IpcPeer(const std::string& state_file) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) std::abort();
    process_ = fork();
    if (process_ == 0) {
      setenv("SIMULATED_CUDA_STATE", state_file.c_str(), 1);
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
      execl(NEREID_IPC_PEER, NEREID_IPC_PEER, NEREID_SIMULATED_CUDA, nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = fdopen(in[1], "w");
    from_ = fdopen(out[0], "r");
    std::istringstream line(Read());
    std::string hex;
    line >> hex >> offset;
    handle = absl::HexStringToBytes(hex);
  }
  ~IpcPeer() { End(); }

  std::string Ask(const std::string& what) {
    std::fprintf(to_, "%s\n", what.c_str());
    std::fflush(to_);
    return Read();
  }
  // Its exit status.
  int End() {
    if (process_ == 0) return 0;
    std::fclose(to_);
    std::fclose(from_);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return status;
  }

  std::string handle;
  size_t offset = 0;

 private:
  std::string Read() {
    char line[512] = "";
    if (std::fgets(line, sizeof(line), from_) == nullptr) return "";
    return std::string(line, std::strcspn(line, "\n"));
  }

  pid_t process_ = 0;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_DEVICE_TESTING_IPC_PEER_PROCESS_H_
