// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/testing/files.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/python/environment/interpreter.h"

namespace nereid_backend::testing {
namespace {

namespace fs = std::filesystem;

void Fill(archive_entry* entry, const ArchivedFile& file) {
  archive_entry_set_pathname(entry, file.path.c_str());
  archive_entry_set_perm(entry, static_cast<__LA_MODE_T>(file.mode));
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_size(entry, static_cast<la_int64_t>(file.content.size()));
  if (!file.link.empty()) {
    archive_entry_set_filetype(entry, AE_IFLNK);
    archive_entry_set_symlink(entry, file.link.c_str());
  }
  if (!file.hard_link.empty()) archive_entry_set_hardlink(entry, file.hard_link.c_str());
}

}  // namespace

TempFolder::TempFolder() : path_(::testing::TempDir() + "nereid_python_XXXXXX") {
  EXPECT_NE(mkdtemp(path_.data()), nullptr);
  path_ = fs::canonical(path_).string();
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TempFolder::Write(const std::string& name, const std::string& content, int mode) const {
  const std::string path = Path(name);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
  return path;
}

std::string TempFolder::Script(const std::string& name, const std::string& commands) const {
  return Write(name, "#!/bin/sh\n" + commands + "\n", 0700);
}

void WriteArchive(const std::string& path, ArchiveKind kind,
                  const std::vector<ArchivedFile>& files) {
  archive* const writer = archive_write_new();
  if (kind == ArchiveKind::kZip) {
    archive_write_set_format_zip(writer);
  } else {
    archive_write_set_format_pax_restricted(writer);
  }
  if (kind == ArchiveKind::kTarGz) archive_write_add_filter_gzip(writer);
  ASSERT_EQ(archive_write_open_filename(writer, path.c_str()), ARCHIVE_OK);
  for (const ArchivedFile& file : files) {
    archive_entry* const entry = archive_entry_new();
    Fill(entry, file);
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK) << archive_error_string(writer);
    archive_write_data(writer, file.content.data(), file.content.size());
    archive_entry_free(entry);
  }
  archive_write_free(writer);
}

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string InterpreterAnswer(const std::string& version, const std::string& executable,
                              const std::string& more) {
  const size_t dot = version.find('.');
  const std::string major = version.substr(0, dot);
  const std::string minor = version.substr(dot + 1, version.find('.', dot + 1) - dot - 1);
  return "cat <<'END'\nnereid-interpreter {\"major\":" + major + ",\"minor\":" + minor +
         ",\"version\":\"" + version + "\",\"executable\":\"" + executable + "\"," + more +
         "}\nEND";
}

std::optional<std::string> RealPython() {
  const Variables variables = Variables::OfThisProcess();
  const Result<std::string> found = FindExecutable("python3", variables);
  if (!found.ok()) return std::nullopt;
  InterpreterTable table;
  const Result<Interpreter> interpreter = table.Ask(*found, variables);
  if (!interpreter.ok() || !CheckSupported(*interpreter).ok()) return std::nullopt;
  return interpreter->path;
}

Variables WithNumpy(const TempFolder& folder) {
  folder.Write("numpy_path/numpy/__init__.py", "");
  Variables variables = Variables::OfThisProcess();
  variables.Set("PYTHONPATH", folder.Path("numpy_path"));
  variables.Remove("OMP_NUM_THREADS");
  return variables;
}

}  // namespace nereid_backend::testing
