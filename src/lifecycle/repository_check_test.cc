// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/repository_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temp_dir.h"
#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RepositoryCheckTest : public ::testing::Test {
 protected:
  RepositoryCheckTest() {
    options_.layout.repositories = {"/r"};
    fs_.WriteFile("/r/good/1/model.onnx", "");
  }

  std::vector<CheckedModel> Check() { return *CheckRepositories(fs_, options_); }

  FakeFileSystem fs_;
  CheckOptions options_;
};

TEST_F(RepositoryCheckTest, AGoodRepositoryHasNoProblems) {
  const std::vector<CheckedModel> models = Check();
  ASSERT_EQ(models.size(), 1u);
  EXPECT_THAT(models[0].problems, IsEmpty());
  EXPECT_THAT(models[0].versions, ElementsAre(1));
  EXPECT_THAT(ToText(models), HasSubstr("good  (versions: 1)\n"));
  EXPECT_THAT(ToText(models), HasSubstr("  backend: \"onnxruntime\"  # from the files of the first "
                                        "version\n"));
  EXPECT_THAT(ToText(models), ::testing::EndsWith("\n1 model, 0 problems\n"));
}

TEST_F(RepositoryCheckTest, FindsAllThatIsWrongAtOnce) {
  fs_.WriteFile("/r/bad/config.pbtxt", "max_batch_size: -1\nbackend: \"python\"\n");
  fs_.WriteFile("/r/bad/1/other.py", "");
  fs_.WriteFile("/r/empty/config.pbtxt", "backend: \"identity\"");
  fs_.WriteFile("/r/typo/config.pbtxt", "\nbackendd: \"identity\"");
  const std::vector<CheckedModel> models = Check();
  ASSERT_EQ(models.size(), 4u);
  EXPECT_EQ(CountProblems(models), 4u);
  const std::string text = ToText(models);
  EXPECT_THAT(text, HasSubstr("PROBLEM /r/bad/config.pbtxt:1: 'max_batch_size' must be"));
  EXPECT_THAT(text, HasSubstr("PROBLEM /r/bad/1/model.py: version 1 has no file 'model.py'"));
  EXPECT_THAT(text, HasSubstr("PROBLEM /r/empty: at least one version must be available"));
  EXPECT_THAT(text, HasSubstr("PROBLEM /r/typo/config.pbtxt:2: "));
  EXPECT_THAT(text, HasSubstr("\n4 models, 4 problems in 3 of them: bad, empty, typo\n"));
  const std::string json = ToJson(models);
  EXPECT_THAT(json, HasSubstr(R"("line":1,"field":"max_batch_size")"));
  EXPECT_THAT(json, ::testing::EndsWith(R"("problems":4,"warnings":0})"));
}

TEST_F(RepositoryCheckTest, JudgesForAMachineWithGpus) {
  fs_.WriteFile("/r/open/config.pbtxt", "backend: 'other'");
  fs_.WriteFile("/r/open/1/x", "");
  fs_.WriteFile("/r/second/config.pbtxt",
                "backend: 'other'\ninstance_group { gpus: 1 kind: KIND_GPU }");
  fs_.WriteFile("/r/second/1/x", "");
  fs_.WriteFile("/b/onnxruntime/libtriton_onnxruntime.so",
                "\x7f"
                "ELF...NEREID_BackendComputesOnCpus...");
  options_.backend_directory = "/b";
  options_.gpus = 1;
  const std::string text = ToText(Check());
  EXPECT_THAT(text, HasSubstr("note: instance group good of model good runs on the CPU: backend "
                              "'onnxruntime' computes on CPUs\n"));
  EXPECT_THAT(text, HasSubstr("note: instance group open of model open runs on GPU 0 with 1 "
                              "instance\n"));
  EXPECT_THAT(text, HasSubstr("/r/second/config.pbtxt:2: instance group second_0 of model second "
                              "specifies invalid or unsupported gpu id 1."));
  options_.gpus = 2;
  EXPECT_EQ(CountProblems(Check()), 0u);
  options_.gpus = 0;
  const std::string without = ToText(Check());
  EXPECT_THAT(without, HasSubstr("second has kind KIND_GPU but no GPUs are available"));
  EXPECT_THAT(without, testing::Not(HasSubstr(" runs on ")));
}

TEST_F(RepositoryCheckTest, AModelThatStatesItsMemoryHasToFitIntoTheBudget) {
  fs_.WriteFile("/r/good/config.pbtxt",
                "backend: 'onnxruntime'\n"
                "parameters { key: 'nereid.memory_bytes' value { string_value: '500' } }\n");
  options_.memory_budget = 500;
  EXPECT_EQ(CountProblems(Check()), 0u);
  options_.memory_budget = 499;
  EXPECT_THAT(ToText(Check()), HasSubstr("PROBLEM /r/good/config.pbtxt:2: model 'good' needs 500 "
                                         "bytes, but --memory-budget is 499"));
}

TEST_F(RepositoryCheckTest, SaysWhatTheBackendSaysOfParameters) {
  fs_.WriteFile("/r/good/config.pbtxt",
                "backend: 'onnxruntime'\nparameters { key: 'a' value { string_value: '1' } }\n"
                "parameters {\n  key: 'b'\n}\nparameters { key: \"c\" }\n");
  options_.check_parameters = [](const std::string& backend, const std::string& model,
                                 const std::map<std::string, std::string>& parameters) {
    EXPECT_EQ(backend, "onnxruntime");
    EXPECT_EQ(model, "good");
    EXPECT_EQ(parameters.at("a"), "1");
    using Level = ParameterRemark::Level;
    return std::vector<ParameterRemark>{{Level::kNote, "a", "a has no effect"},
                                        {Level::kWarning, "b", "b is unknown"},
                                        {Level::kProblem, "c", "c is wrong"}};
  };
  const std::vector<CheckedModel> models = Check();
  EXPECT_EQ(CountProblems(models), 1u);
  EXPECT_EQ(CountWarnings(models), 1u);
  const std::string text = ToText(models);
  EXPECT_THAT(text, HasSubstr("  note: a has no effect\n"));
  EXPECT_THAT(text, HasSubstr("  WARNING /r/good/config.pbtxt:4: b is unknown\n"));
  EXPECT_THAT(text, HasSubstr("  PROBLEM /r/good/config.pbtxt:6: c is wrong\n"));
  EXPECT_THAT(text, ::testing::EndsWith("\n1 model, 1 problem in 1 of them: good; 1 warning\n"));
  EXPECT_THAT(ToJson(models), HasSubstr(R"("text":"b is unknown"}],"notes":[)"));
  EXPECT_EQ(ProblemsToJson(models),
            R"({"checked":1,"problems":[{"model":"good","kind":"problem",)"
            R"("text":"/r/good/config.pbtxt:6: c is wrong"},{"model":"good","kind":"warning",)"
            R"("text":"/r/good/config.pbtxt:4: b is unknown"}]})");
}

TEST_F(RepositoryCheckTest, AnUnknownParameterOfTheServersIsAProblem) {
  fs_.WriteFile("/r/good/config.pbtxt",
                "backend: 'onnxruntime'\n"
                "parameters { key: 'nereid.target_p99' value { string_value: '1' } }\n");
  EXPECT_THAT(
      ToText(Check()),
      HasSubstr("PROBLEM /r/good/config.pbtxt:2: unknown parameter 'nereid.target_p99' for "
                "good (parameters.nereid.target_p99: did you mean 'nereid.target_p99_us'?)"));
}

TEST_F(RepositoryCheckTest, AWrongParameterOfTensorFlowServingsApiIsAProblem) {
  const std::string parameter =
      "parameters { key: 'tfs.signature.s' value { string_value: 'predict x -> out' } }\n";
  fs_.WriteFile("/r/good/config.pbtxt",
                "backend: 'onnxruntime'\n" + parameter +
                    "input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] }\n"
                    "output { name: 'out' data_type: TYPE_FP32 dims: [ 1 ] }\n");
  EXPECT_THAT(ToText(Check()),
              HasSubstr("PROBLEM /r/good/config.pbtxt:2: the parameter 'tfs.signature.s' names 'x' "
                        "as an input: write NAME or KEY=NAME"));
  // Without tensors it is known when the model is loaded.
  fs_.WriteFile("/r/good/config.pbtxt", "backend: 'onnxruntime'\n" + parameter);
  EXPECT_THAT(ToText(Check()), HasSubstr("0 problems"));
}

TEST_F(RepositoryCheckTest, StepsHaveToFitTheirMembers) {
  const std::string tensors =
      "input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] }\n"
      "output { name: 'out' data_type: TYPE_FP32 dims: [ 1 ] }\n";
  fs_.WriteFile("/r/floats/config.pbtxt", "backend: 'identity'\n" + tensors);
  fs_.MakeDirectory("/r/floats/1");
  fs_.MakeDirectory("/r/e/1");
  const auto ensemble = [&](const std::string& step) {
    fs_.WriteFile("/r/e/config.pbtxt", "platform: 'ensemble'\n" + tensors +
                                           "ensemble_scheduling {\n step {\n" + step +
                                           "output_map { key: 'out' value: 'out' }\n} }\n");
    return ToText(Check());
  };
  EXPECT_THAT(ensemble("model_name: 'floats' model_version: -1\n"
                       "input_map { key: 'in' value: 'in' }\n"),
              HasSubstr(" 0 problems"));
  EXPECT_THAT(
      ensemble("model_name: 'floats' model_version: 7\n"
               "input_map { key: 'on' value: 'in' }\n"),
      AllOf(HasSubstr("PROBLEM /r/e/config.pbtxt:6: ensemble 'e' depends on 'floats' whose "
                      "required version 7 is not loaded."),
            HasSubstr("in ensemble e, ensemble tensor in is mapping to non-existing input on "
                      "in model floats"),
            HasSubstr("in ensemble e, input in in model floats is not mapped to any ensemble "
                      "tensors")));
  EXPECT_THAT(ensemble("model_name: 'good' model_version: -1\n"
                       "input_map { key: 'in' value: 'in' }\n"),
              AllOf(HasSubstr(" 0 problems"),
                    HasSubstr("note: whether 'good' fits its step is seen when it "
                              "loads")));
}

TEST_F(RepositoryCheckTest, AMemberThatItsBackendCompletesIsNotCompared) {
  fs_.WriteFile("/r/part/config.pbtxt",
                "backend: 'dali' input { name: 'in' } output { name: 'out' dims: [ 7 ] }");
  fs_.MakeDirectory("/r/part/1");
  fs_.MakeDirectory("/r/e/1");
  fs_.WriteFile("/r/e/config.pbtxt",
                "platform: 'ensemble' "
                "input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] } "
                "output { name: 'out' data_type: TYPE_FP32 dims: [ 1 ] } "
                "ensemble_scheduling { step { model_name: 'part' model_version: -1 "
                "input_map { key: 'in' value: 'in' } output_map { key: 'out' value: 'out' } } }");
  EXPECT_THAT(ToText(Check()),
              AllOf(HasSubstr(" 0 problems"), HasSubstr("note: whether 'part' fits its step"),
                    HasSubstr("note: input[0].dims is not given"),
                    HasSubstr("note: output[0].data_type is not given")));
}

TEST_F(RepositoryCheckTest, ACacheOverAMemberThatKeepsState) {
  const std::string tensors =
      "input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] } "
      "output { name: 'out' data_type: TYPE_INT8 dims: [ 1 ] } ";
  const auto ensemble = [&](const std::string& name, const std::string& member,
                            const std::string& more) {
    fs_.WriteFile("/r/" + name + "/config.pbtxt",
                  "platform: 'ensemble' " + tensors + "ensemble_scheduling { step { model_name: '" +
                      member +
                      "' model_version: -1 input_map { key: 'in' value: 'in' } "
                      "output_map { key: 'out' value: 'out' } } } " +
                      more);
    fs_.MakeDirectory("/r/" + name + "/1");
  };
  fs_.WriteFile("/r/sums/config.pbtxt", "backend: 'identity' sequence_batching { } " + tensors);
  fs_.MakeDirectory("/r/sums/1");
  ensemble("inner", "sums", "");
  ensemble("outer", "inner", "response_cache { enable: true }");
  EXPECT_THAT(ToText(Check()),
              AllOf(HasSubstr(" 1 problem in 1 of them: outer\n"),
                    HasSubstr("Response Cache does not currently support model outer with")));
}

TEST_F(RepositoryCheckTest, KnowsBackendsInPython) {
  TempDir backends;
  backends.Write("python/libtriton_python.so", "");
  backends.Write("vllm/model.py", "");
  options_.backend_directory = backends.path();
  fs_.WriteFile("/r/language/config.pbtxt", "backend: 'vllm'");
  fs_.MakeDirectory("/r/language/1");
  fs_.WriteFile("/r/said/config.pbtxt", "backend: 'vllm' runtime: 'model.py'");
  fs_.MakeDirectory("/r/said/1");
  const std::string file = backends.path() + "/vllm/model.py";
  EXPECT_THAT(
      ToText(Check()),
      AllOf(HasSubstr("language  (versions: 1)\n"),
            HasSubstr("  backend: \"vllm\"\n  runtime: \"model.py\"  # there is no library of "
                      "the backend, but '" +
                      file + "'\n"),
            HasSubstr("  runtime: \"model.py\"\n"),
            HasSubstr("note: backend 'vllm' is '" + file + "', run by '" + backends.path() +
                      "/python/libtriton_python.so'\n"),
            HasSubstr(" 0 problems")));
}

TEST_F(RepositoryCheckTest, AMissingBackendIsAProblemWhereBackendsAreRequired) {
  TempDir backends;
  options_.backend_directory = backends.path();
  fs_.WriteFile("/r/plan/1/model.plan", "");
  fs_.WriteFile("/r/plan/config.pbtxt", "platform: 'tensorrt_plan'");
  const std::string text = ToText(Check());
  EXPECT_THAT(text, HasSubstr("  note: there is no backend 'tensorrt' in '" + backends.path() +
                              "'; the server that loads the model needs it\n"));
  EXPECT_THAT(text, ::testing::EndsWith("\n2 models, 0 problems\n"
                                        "Not installed here, but needed by models: the backends "
                                        "onnxruntime, tensorrt.\n"));
  options_.backends_required = true;
  EXPECT_THAT(ToText(Check()),
              HasSubstr("PROBLEM /r/good/config.pbtxt: unable to find backend library for backend "
                        "'onnxruntime', try specifying runtime on the model configuration."));
}

TEST_F(RepositoryCheckTest, ANameInTwoRepositoriesIsAProblemOfBoth) {
  fs_.WriteFile("/s/good/1/model.onnx", "");
  options_.layout.repositories = {"/r", "/s"};
  EXPECT_EQ(CountProblems(Check()), 2u);
  options_.layout.namespacing = true;
  EXPECT_EQ(CountProblems(Check()), 0u);
}

TEST_F(RepositoryCheckTest, ARepositoryThatIsNotThereIsAnError) {
  options_.layout.repositories = {"/nowhere"};
  EXPECT_FALSE(CheckRepositories(fs_, options_).ok());
}

}  // namespace
}  // namespace nereid
