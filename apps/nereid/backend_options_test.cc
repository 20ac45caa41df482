// SPDX-License-Identifier: Apache-2.0
#include "backend_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace nereid {
namespace {

using nereid_backend::BackendOptions;
using nereid_backend::OptionSpec;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ReadMe(const BackendOptions& options) {
  // What users need to know of Python models has a page of its own.
  const std::string place = options.backend == "python"
                                ? "../docs/models/python_deployment.md"
                                : std::string(options.backend) + "/README.md";
  std::ifstream file(std::string(NEREID_SOURCES) + "/backends/" + place);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// All that stands in backquotes.
std::set<std::string> Quoted(const std::string& text) {
  static const std::regex quoted("`([^`\n]+)`");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

// The names in the first column of the table of parameters.
std::set<std::string> NamesOfTable(const std::string& readme) {
  std::set<std::string> names;
  std::istringstream lines(readme);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| parameter |") || line.starts_with("| setting |")) inside = true;
    if (!line.starts_with("|")) inside = false;
    if (!inside) continue;
    names.merge(Quoted(line.substr(0, line.find('|', 1))));
  }
  return names;
}

bool Has(std::span<const OptionSpec> specs, const std::string& name) {
  for (const OptionSpec& spec : specs) {
    if (spec.name == name) return true;
  }
  return false;
}

TEST(BackendOptionsTest, ReadMesNameAllOptions) {
  for (const BackendOptions* options : AllBackendOptions()) {
    const std::string readme = ReadMe(*options);
    ASSERT_NE(readme, "") << options->backend;
    for (const auto& specs : {options->parameters, options->settings}) {
      for (const OptionSpec& spec : specs) {
        EXPECT_THAT(Quoted(readme), Contains(std::string(spec.name))) << options->backend;
      }
    }
  }
}

TEST(BackendOptionsTest, ReadMesNameNoOthers) {
  for (const BackendOptions* options : AllBackendOptions()) {
    for (const std::string& name : NamesOfTable(ReadMe(*options))) {
      EXPECT_TRUE(Has(options->parameters, name) || Has(options->settings, name) ||
                  Has(nereid_backend::kServerSettings, name))
          << options->backend << ": " << name;
    }
  }
}

// A name that stands for another, or for others, has to be one that can be found.
TEST(BackendOptionsTest, TablesAreSound) {
  for (const BackendOptions* options : AllBackendOptions()) {
    for (const auto& specs : {options->parameters, options->settings}) {
      std::set<std::string_view> names;
      for (const OptionSpec& spec : specs) {
        EXPECT_TRUE(names.insert(spec.name).second) << spec.name << " is there twice";
        EXPECT_TRUE(spec.stands_for.empty() || Has(specs, std::string(spec.stands_for)));
        EXPECT_NE(spec.name, "*");
      }
    }
  }
}

std::vector<ParameterRemark> Check(const std::string& backend, const std::string& name,
                                   const std::string& value) {
  return CheckParametersByTable(backend, "m", {{name, value}});
}

TEST(BackendOptionsTest, CheckSaysWhatTheBackendsSay) {
  using Level = ParameterRemark::Level;
  EXPECT_THAT(Check("onnxruntime", "execution_mode", "1"), IsEmpty());
  EXPECT_THAT(Check("onnxruntime", "gpu_mem_limit", "1"),
              ElementsAre(Field(&ParameterRemark::level, Level::kNote)));
  EXPECT_THAT(Check("onnxruntime", "execution_mode", "2"),
              ElementsAre(Field(&ParameterRemark::level, Level::kProblem)));
  EXPECT_THAT(Check("onnxruntime", "session.disable_prepacking", "1"), IsEmpty());
  EXPECT_THAT(Check("onnxruntime", "session.disable_prepakcing", "1"),
              ElementsAre(AllOf(
                  Field(&ParameterRemark::level, Level::kWarning),
                  Field(&ParameterRemark::text,
                        "model 'm': parameter 'session.disable_prepakcing' is passed on to ONNX "
                        "Runtime, which is not known to read it (did you mean "
                        "'session.disable_prepacking'?)"))));
  EXPECT_THAT(
      Check("pytorch", "INFERENCE_MOD", "1"),
      ElementsAre(Field(&ParameterRemark::text, HasSubstr("did you mean 'INFERENCE_MODE'"))));
  EXPECT_THAT(Check("python", "EXECUTION_ENV_PAHT", "x"),
              ElementsAre(Field(&ParameterRemark::level, Level::kWarning)));
  EXPECT_THAT(Check("python", "tokenizer", "x"), IsEmpty());
  EXPECT_THAT(Check("somebody_elses", "tokenizer", "x"), IsEmpty());
}

}  // namespace
}  // namespace nereid
