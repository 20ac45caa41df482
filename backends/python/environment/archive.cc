// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {
namespace {

// libarchive, loaded when an archive is unpacked and never before: it brings ten libraries, among
// them 30 MB of Unicode tables, that no other model needs. Stays loaded. Thread-safe.
#define NEREID_ARCHIVE_FUNCTIONS(F)    \
  F(archive_entry_filetype)            \
  F(archive_entry_hardlink)            \
  F(archive_entry_pathname)            \
  F(archive_entry_perm)                \
  F(archive_entry_set_hardlink)        \
  F(archive_entry_set_pathname)        \
  F(archive_entry_set_perm)            \
  F(archive_entry_symlink)             \
  F(archive_error_string)              \
  F(archive_filter_bytes)              \
  F(archive_read_data_block)           \
  F(archive_read_free)                 \
  F(archive_read_new)                  \
  F(archive_read_next_header)          \
  F(archive_read_open_filename)        \
  F(archive_read_support_filter_bzip2) \
  F(archive_read_support_filter_gzip)  \
  F(archive_read_support_filter_xz)    \
  F(archive_read_support_filter_zstd)  \
  F(archive_read_support_format_tar)   \
  F(archive_read_support_format_zip)   \
  F(archive_write_close)               \
  F(archive_write_data_block)          \
  F(archive_write_disk_new)            \
  F(archive_write_disk_set_options)    \
  F(archive_write_finish_entry)        \
  F(archive_write_free)                \
  F(archive_write_header)

// The functions of libarchive that are used, each under its own name.
struct ArchiveLibrary {
#define NEREID_ARCHIVE_MEMBER(name) decltype(&::name) name = nullptr;
  NEREID_ARCHIVE_FUNCTIONS(NEREID_ARCHIVE_MEMBER)
#undef NEREID_ARCHIVE_MEMBER
};

constexpr const char* kLibrary = "libarchive.so.13";

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

Error Load(ArchiveLibrary* functions) {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("archives are unpacked by libarchive (Debian package libarchive13): ",
                        dlerror(), "; an environment may also be a folder"));
  }
#define NEREID_ARCHIVE_FIND(name)                                                    \
  if (!Find(library, #name, &functions->name)) {                                     \
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(kLibrary, " lacks " #name)); \
  }
  NEREID_ARCHIVE_FUNCTIONS(NEREID_ARCHIVE_FIND)
#undef NEREID_ARCHIVE_FIND
  return Error();
}

// The same object for all callers; UNAVAILABLE, with the package that has it, if it is not
// installed.
Result<const ArchiveLibrary*> LoadArchiveLibrary() {
  static std::mutex mu;
  static ArchiveLibrary functions;  // guarded by mu until it is complete
  static bool complete = false;     // guarded by mu
  const std::lock_guard<std::mutex> lock(mu);
  if (!complete) NB_RETURN_IF_ERROR(Load(&functions));
  complete = true;
  return &functions;
}

constexpr size_t kBlockBytes = 256 << 10;
constexpr int kRights = 0777;  // no set-user-ID

// Ends with archive_read_free or archive_write_free.
using Handle = std::unique_ptr<archive, int (*)(archive*)>;

std::vector<std::string_view> Parts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return parts;
}

// Whether `path`, relative to a folder `depth` levels below the top, stays below the top.
bool StaysBelow(std::string_view path, int depth) {
  if (path.empty() || path[0] == '/') return false;
  for (const std::string_view part : Parts(path)) {
    depth += part == ".." ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}

bool HasDotDot(std::string_view path) {
  for (const std::string_view part : Parts(path)) {
    if (part == "..") return true;
  }
  return false;
}

// bin/python, bin/python3 and so on.
bool IsInterpreter(std::string_view path) {
  const std::vector<std::string_view> parts = Parts(path);
  return parts.size() == 2 && parts[0] == "bin" && parts[1].substr(0, 6) == "python";
}

class Unpacker {
 public:
  Unpacker(const ArchiveLibrary& library, const std::string& path, const std::string& folder,
           const std::function<void(int64_t)>& progress)
      : library_(library),
        path_(path),
        folder_(folder),
        progress_(progress),
        reader_(library.archive_read_new(), library.archive_read_free),
        writer_(library.archive_write_disk_new(), library.archive_write_free) {}

  Error Run() {
    NB_RETURN_IF_ERROR(Open());
    archive_entry* entry = nullptr;
    while (true) {
      const int result = library_.archive_read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result < ARCHIVE_WARN) return Broken(reader_.get());
      NB_RETURN_IF_ERROR(Take(entry));
      progress_(library_.archive_filter_bytes(reader_.get(), -1));
    }
    if (library_.archive_write_close(writer_.get()) != ARCHIVE_OK) return Failed(writer_.get());
    return Error();
  }

 private:
  Error Open() {
    if (reader_ == nullptr || writer_ == nullptr) return Error::Internal("no memory to unpack");
    library_.archive_read_support_format_tar(reader_.get());
    library_.archive_read_support_format_zip(reader_.get());
    library_.archive_read_support_filter_gzip(reader_.get());
    library_.archive_read_support_filter_bzip2(reader_.get());
    library_.archive_read_support_filter_xz(reader_.get());
    library_.archive_read_support_filter_zstd(reader_.get());
    library_.archive_write_disk_set_options(
        writer_.get(), ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME |
                           ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT);
    if (library_.archive_read_open_filename(reader_.get(), path_.c_str(), kBlockBytes) !=
        ARCHIVE_OK) {
      return Broken(reader_.get());
    }
    return Error();
  }

  Error Take(archive_entry* entry) {
    const char* const name = library_.archive_entry_pathname(entry);
    if (name == nullptr)
      return Error::InvalidArg(StrCat("'", path_, "' holds a file without name"));
    const std::string path = name;
    const std::vector<std::string_view> parts = Parts(path);
    if (path.empty() || path[0] == '/' || HasDotDot(path)) return LeadsOut(path);
    if (parts.empty()) return Error();  // the top itself
    NB_RETURN_IF_ERROR(CheckKind(entry, path));
    if (const char* target = library_.archive_entry_symlink(entry); target != nullptr) {
      const bool inside = StaysBelow(target, static_cast<int>(parts.size()) - 1);
      if (!inside && !IsInterpreter(path)) return LeadsOut(path);
    }
    if (const char* target = library_.archive_entry_hardlink(entry); target != nullptr) {
      if (!StaysBelow(target, 0) || HasDotDot(target)) return LeadsOut(path);
      library_.archive_entry_set_hardlink(entry, StrCat(folder_, "/", std::string(target)).c_str());
    }
    library_.archive_entry_set_pathname(entry, StrCat(folder_, "/", path).c_str());
    library_.archive_entry_set_perm(entry, library_.archive_entry_perm(entry) & kRights);
    if (library_.archive_write_header(writer_.get(), entry) < ARCHIVE_WARN)
      return Failed(writer_.get());
    NB_RETURN_IF_ERROR(CopyData());
    if (library_.archive_write_finish_entry(writer_.get()) < ARCHIVE_WARN)
      return Failed(writer_.get());
    return Error();
  }

  Error CheckKind(archive_entry* entry, const std::string& path) const {
    if (library_.archive_entry_hardlink(entry) != nullptr) return Error();
    const auto kind = library_.archive_entry_filetype(entry);
    if (kind == AE_IFREG || kind == AE_IFDIR || kind == AE_IFLNK) return Error();
    return Error::InvalidArg(StrCat("'", path_, "' holds '", path,
                                    "', which is neither a file nor a folder nor a link"));
  }

  Error CopyData() {
    while (true) {
      const void* data = nullptr;
      size_t size = 0;
      la_int64_t offset = 0;
      const int result = library_.archive_read_data_block(reader_.get(), &data, &size, &offset);
      if (result == ARCHIVE_EOF) return Error();
      if (result < ARCHIVE_WARN) return Broken(reader_.get());
      if (library_.archive_write_data_block(writer_.get(), data, size, offset) < ARCHIVE_WARN) {
        return Failed(writer_.get());
      }
      progress_(library_.archive_filter_bytes(reader_.get(), -1));
    }
  }

  Error LeadsOut(const std::string& path) const {
    return Error::InvalidArg(StrCat("'", path_, "' holds '", path,
                                    "', which leads out of the folder that it is unpacked into"));
  }
  std::string TextOf(archive* a) const {
    const char* const text = library_.archive_error_string(a);
    return text == nullptr ? "no reason given" : text;
  }
  Error Broken(archive* a) const {
    return Error::InvalidArg(StrCat("'", path_, "' can not be unpacked: ", TextOf(a),
                                    " (it has to be a tar or zip file, packed by gzip, bzip2, xz "
                                    "or zstd or not at all)"));
  }
  Error Failed(archive* a) const {
    return Error::Internal(
        StrCat("'", path_, "' can not be unpacked into '", folder_, "': ", TextOf(a)));
  }

  const ArchiveLibrary& library_;
  const std::string& path_;
  const std::string& folder_;
  const std::function<void(int64_t)>& progress_;
  const Handle reader_;
  const Handle writer_;
};

}  // namespace

Error Unpack(const std::string& archive, const std::string& folder,
             const std::function<void(int64_t bytes)>& progress) {
  NB_ASSIGN_OR_RETURN(const ArchiveLibrary* const library, LoadArchiveLibrary());
  return Unpacker(*library, archive, folder, progress).Run();
}

}  // namespace nereid_backend
