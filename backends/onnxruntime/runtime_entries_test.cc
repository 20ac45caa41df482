// SPDX-License-Identifier: Apache-2.0
// The list of entries against the runtime that this is built with: its header and its library. A
// new release may need new names there.
#include "backends/onnxruntime/runtime_entries.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace nereid_backend {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

constexpr const char* kName = "(session|optimization|ep|mlas)\\.[a-z0-9_.]*[a-z0-9]";

// Names of the runtime that are no entries of a session.
const std::set<std::string>& Others() {
  static const std::set<std::string> others = {
      // Set while a session is in use.
      "ep.dynamic.workload_type",
      // Only in builds for training.
      "optimization.enable_memory_probe_recompute_config",
      "optimization.memory_optimizer_config",
      // In the table without effect.
      "ep.cuda.fpa_intb_gemm",
      "ep.cuda.fpa_intb_profile_m",
      "ep.cuda.gqa_workspace_max_total_sequence_length",
      // How the runtime tells its plug-ins of options that have functions of their own.
      "session.enable_cpu_mem_arena",
      "session.enable_mem_pattern",
      "session.enable_profiling",
      "session.execution_mode",
      "session.graph_optimization_level",
      "session.inter_op_num_threads",
      "session.intra_op_num_threads",
      "session.log_id",
      "session.log_severity_level",
      "session.log_verbosity_level",
      "session.optimized_model_filepath",
      "session.use_deterministic_compute",
      "session.use_per_session_threads",
  };
  return others;
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> Listed() { return {std::begin(kRuntimeEntries), std::end(kRuntimeEntries)}; }

TEST(RuntimeEntriesTest, NoneOfTheHeaderIsMissing) {
  const std::string header = Content(NEREID_ORT_SESSION_KEYS);
  const std::regex key("\"(" + std::string(kName) + ")\";");
  std::set<std::string> names;
  for (std::sregex_iterator at(header.begin(), header.end(), key), end; at != end; ++at) {
    if (Others().count((*at)[1]) == 0) names.insert((*at)[1]);
  }
  EXPECT_THAT(names, Contains("session.disable_prepacking"));
  EXPECT_THAT(Listed(), IsSupersetOf(names));
}

// The library has most of the names as texts with a NUL before and behind them.
TEST(RuntimeEntriesTest, NoneOfTheLibraryIsMissing) {
  Dl_info info;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&OrtGetApiBase), &info), 0);
  const std::string library = Content(info.dli_fname);
  const std::regex name(kName);
  std::set<std::string> names;
  for (const std::string area : {"session.", "optimization.", "ep.", "mlas."}) {
    const std::string begin = '\0' + area;
    for (size_t at = library.find(begin); at != std::string::npos;
         at = library.find(begin, at + 1)) {
      const std::string text = library.c_str() + at + 1;
      if (text.size() < 200 && std::regex_match(text, name)) names.insert(text);
    }
  }
  EXPECT_THAT(names, Contains("session.disable_prepacking"));
  for (const std::string& other : Others()) names.erase(other);
  EXPECT_THAT(Listed(), IsSupersetOf(names));
}

TEST(RuntimeEntriesTest, EachIsThereOnceInOrder) {
  EXPECT_THAT(Listed(), SizeIs(std::size(kRuntimeEntries)));
  EXPECT_TRUE(std::is_sorted(std::begin(kRuntimeEntries), std::end(kRuntimeEntries)));
}

}  // namespace
}  // namespace nereid_backend
