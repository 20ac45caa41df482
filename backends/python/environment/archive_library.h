// libarchive, loaded when an archive is unpacked and never before: it brings ten libraries, among
// them 30 MB of Unicode tables, that no other model needs. Stays loaded. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_ARCHIVE_LIBRARY_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_ARCHIVE_LIBRARY_H_

#include <archive.h>
#include <archive_entry.h>

#include "backends/sdk/error.h"

namespace nereid_backend {

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

// The same object for all callers; UNAVAILABLE, with the package that has it, if it is not
// installed.
Result<const ArchiveLibrary*> LoadArchiveLibrary();

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_ARCHIVE_LIBRARY_H_
