// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>

namespace nereid {
namespace {

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_386:
      return "x86 (32 bits)";
    case EM_RISCV:
      return "RISC-V";
    default:
      return absl::StrCat("the ELF machine ", machine);
  }
}

// The processor that a file is built for; 0 if it is no ELF file. The field has the same place in
// files of 32 and of 64 bits.
uint16_t MachineOf(const std::string& path) {
  ElfW(Ehdr) header = {};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  return header.e_machine;
}

// What the dynamic linker's message leaves to guess; empty: nothing.
std::string Explain(const std::string& path, absl::string_view message) {
  static const uint16_t own_machine = MachineOf("/proc/self/exe");
  if (const uint16_t machine = MachineOf(path); machine != 0 && machine != own_machine) {
    return absl::StrCat("; the file is built for ", MachineName(machine), ", and this program for ",
                        MachineName(own_machine));
  }
  if (absl::StrContains(message, ": cannot open shared object file") &&
      !absl::StartsWith(message, path)) {
    return absl::StrCat("; ", path, " needs this library, beside it or where the system looks");
  }
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedLibrary>> SharedLibrary::Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const std::string message = dlerror();
    return absl::InternalError(
        absl::StrCat("unable to load shared library: ", message, Explain(path, message)));
  }
  return std::unique_ptr<SharedLibrary>(new SharedLibrary(path, handle));
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::Find(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  if (address == nullptr) return nullptr;
  // dlsym also searches the library's dependencies. A symbol that comes from one of those (a
  // backend links against the server library) is not an entry point of this library.
  Dl_info info;
  const link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || dladdr(address, &info) == 0) return address;
  return reinterpret_cast<ElfW(Addr)>(info.dli_fbase) == map->l_addr ? address : nullptr;
}

}  // namespace nereid
