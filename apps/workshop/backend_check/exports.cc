// SPDX-License-Identifier: Apache-2.0
#include "backend_check/exports.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace nereid {
namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

constexpr const char* kBatcher[] = {
    "TRITONBACKEND_ModelBatcherInitialize", "TRITONBACKEND_ModelBatcherFinalize",
    "TRITONBACKEND_ModelBatchInitialize", "TRITONBACKEND_ModelBatchIncludeRequest",
    "TRITONBACKEND_ModelBatchFinalize"};
constexpr char kExecute[] = "TRITONBACKEND_ModelInstanceExecute";
constexpr const char* kOthers[] = {"TRITONBACKEND_Initialize",
                                   "TRITONBACKEND_Finalize",
                                   "TRITONBACKEND_GetBackendAttribute",
                                   "TRITONBACKEND_ModelInitialize",
                                   "TRITONBACKEND_ModelFinalize",
                                   "TRITONBACKEND_ModelInstanceInitialize",
                                   "TRITONBACKEND_ModelInstanceFinalize",
                                   "TRITONBACKEND_ModelInstanceReady"};

// A file in memory, as long as the object lives.
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd < 0 || fstat(fd, &status) != 0) {
      const std::string why = std::strerror(errno);
      if (fd >= 0) close(fd);
      return absl::NotFoundError(absl::StrCat("'", path, "' cannot be read: ", why));
    }
    MappedFile file;
    file.size_ = static_cast<size_t>(status.st_size);
    void* const bytes =
        file.size_ == 0 ? MAP_FAILED : mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) {
      return absl::NotFoundError(absl::StrCat("'", path, "' is empty or no file"));
    }
    file.bytes_ = static_cast<const char*>(bytes);
    return file;
  }
  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_) {}
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }

  // `count` objects that begin at `offset`; null if the file ends before them.
  template <typename T>
  const T* At(uint64_t offset, uint64_t count = 1) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0) {
      return nullptr;
    }
    return reinterpret_cast<const T*>(bytes_ + offset);
  }

 private:
  MappedFile() = default;
  const char* bytes_ = nullptr;
  size_t size_ = 0;
};

// The dynamic linker's message says more about libraries for other processors.
absl::Status CheckHeader(const std::string& path, const Header* header) {
  constexpr unsigned char kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header != nullptr && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
      header->e_ident[EI_CLASS] == kOwnClass && header->e_type == ET_DYN) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", path, "' is not a shared object of ", 8 * sizeof(void*), " bits"));
}

// The plain name of a function of the interface that is exported under its C++ name, else "".
std::string Unmangled(absl::string_view symbol) {
  if (!absl::ConsumePrefix(&symbol, "_Z")) return "";
  size_t digits = 0;
  while (digits < symbol.size() && absl::ascii_isdigit(symbol[digits])) ++digits;
  size_t length = 0;
  if (!absl::SimpleAtoi(symbol.substr(0, digits), &length)) return "";
  const absl::string_view name = symbol.substr(digits, length);
  return absl::StartsWith(name, "TRITONBACKEND_") ? std::string(name) : "";
}

bool Contains(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <size_t N>
bool IsAmong(const char* const (&known)[N], const std::string& name) {
  return std::find(std::begin(known), std::end(known), name) != std::end(known);
}

void CheckPairs(const std::vector<std::string>& exports, TrialResult* result) {
  for (const std::string what : {"Model", "ModelInstance"}) {
    const std::string begin = absl::StrCat("TRITONBACKEND_", what, "Initialize");
    const std::string end = absl::StrCat("TRITONBACKEND_", what, "Finalize");
    if (Contains(exports, begin) && !Contains(exports, end)) {
      result->AddNote(absl::StrCat("the library exports ", begin, " and not ", end,
                                   ", which is right only if the first allocates nothing"));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadExports(const std::string& path) {
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const Header* const header = file->At<Header>(0);
  if (absl::Status fits = CheckHeader(path, header); !fits.ok()) return fits;
  const Section* const sections = file->At<Section>(header->e_shoff, header->e_shnum);
  std::vector<std::string> names;
  for (int i = 0; sections != nullptr && i < header->e_shnum; ++i) {
    const Section& table = sections[i];
    if (table.sh_type != SHT_DYNSYM || table.sh_link >= header->e_shnum) continue;
    const Section& texts = sections[table.sh_link];
    const auto* const symbols = file->At<Symbol>(table.sh_offset, table.sh_size / sizeof(Symbol));
    const char* const text = file->At<char>(texts.sh_offset, texts.sh_size);
    if (symbols == nullptr || text == nullptr) break;
    for (size_t s = 0; s < table.sh_size / sizeof(Symbol); ++s) {
      const Symbol& symbol = symbols[s];
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= texts.sh_size ||
          ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL) {
        continue;
      }
      const char* const name = text + symbol.st_name;
      names.emplace_back(name, strnlen(name, texts.sh_size - symbol.st_name));
    }
  }
  return names;
}

void CheckExports(const std::vector<std::string>& exports,
                  const std::function<bool(const std::string&)>& of_server, TrialResult* result) {
  if (!Contains(exports, kExecute)) result->AddFinding("no-execute", "the file");
  size_t batcher = 0;
  std::vector<std::string> others;
  for (const std::string& name : exports) {
    if (const std::string plain = Unmangled(name); !plain.empty()) {
      result->AddFinding("mangled-export", absl::StrCat("the file: ", plain, " as ", name));
    } else if (IsAmong(kBatcher, name)) {
      ++batcher;
    } else if (name == kExecute || IsAmong(kOthers, name)) {
      continue;
    } else if (absl::StartsWith(name, "TRITON") && of_server(name)) {
      result->AddFinding("server-export", absl::StrCat("the file: ", name));
    } else if (absl::StartsWith(name, "TRITONBACKEND_")) {
      result->AddFinding("unknown-export", absl::StrCat("the file: ", name));
    } else if (!absl::StartsWith(name, "NEREID_Backend")) {
      others.push_back(name);
    }
  }
  if (batcher != 0 && batcher != std::size(kBatcher)) {
    result->AddFinding("partial-batcher",
                       absl::StrCat("the file: ", batcher, " of ", std::size(kBatcher)));
  }
  CheckPairs(exports, result);
  if (!others.empty()) {
    result->AddNote(absl::StrCat(
        "the library exports ", others.size(), " symbols of its own, for instance ", others[0],
        "; another library with the same symbols may be bound to them (-fvisibility=hidden)"));
  }
}

}  // namespace nereid
