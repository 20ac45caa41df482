// SPDX-License-Identifier: Apache-2.0
// Every combination of what a configuration can give or leave out, against the rules of
// Triton's ONNX backend, which are stated here anew: on plain values, without the code that is
// tested.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/graph/autocomplete.h"
#include "backends/sdk/graph/check.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

constexpr int64_t kDefaultBatch = 4;

// A tensor of the file; `dims` do without the first dimension.
struct Known {
  std::string name;
  std::string type;
  std::vector<int64_t> dims;
};
const std::vector<Known> kInputs = {{"X", "TYPE_FP32", {4}}, {"Z", "TYPE_INT64", {2, -1}}};
const std::vector<Known> kOutputs = {{"Y", "TYPE_FP16", {3}}, {"W", "TYPE_STRING", {5, 6}}};

// What the listed entries lack.
enum class Gap { kNone, kTypes, kDims, kBoth };

struct Given {
  std::vector<Known> inputs;   // those that are listed
  std::vector<Known> outputs;  // the same
  Gap gap = Gap::kNone;
  int64_t max_batch_size = 0;  // 0: left out
  std::string scheduler;       // "": left out
  bool first_is_open = true;   // of every tensor in the file

  std::string Text() const {
    std::string text = R"({"name":"m")";
    if (max_batch_size > 0) text += R"(,"max_batch_size":)" + std::to_string(max_batch_size);
    if (!inputs.empty()) text += R"(,"input":)" + List(inputs);
    if (!outputs.empty()) text += R"(,"output":)" + List(outputs);
    if (!scheduler.empty()) text += ",\"" + scheduler + "\":{}";
    return text + "}";
  }
  // Shapes are whole where no batches are meant.
  std::string List(const std::vector<Known>& tensors) const {
    std::string text;
    for (const Known& tensor : tensors) {
      text += (text.empty() ? "" : ",") + ("{\"name\":\"" + tensor.name + "\"");
      const bool typed = gap == Gap::kNone || gap == Gap::kDims;
      if (typed) text += R"(,"data_type":")" + tensor.type + "\"";
      const bool sized = gap == Gap::kNone || gap == Gap::kTypes;
      if (sized) text += R"(,"dims":)" + JsonInts(Whole(tensor, Batches())).Write();
      text += "}";
    }
    return "[" + text + "]";
  }
  // Whether batches are meant, as Triton understands it.
  bool Batches() const {
    if (max_batch_size > 0) return true;
    return first_is_open && (inputs.empty() || outputs.empty());
  }
  std::vector<int64_t> Whole(const Known& tensor, bool batches) const {
    std::vector<int64_t> dims = tensor.dims;
    if (!batches) dims.insert(dims.begin(), first_is_open ? -1 : 1);
    return dims;
  }
};

// A configuration as far as completion goes.
struct Outcome {
  bool refused = false;
  int64_t max_batch_size = 0;
  std::vector<std::string> inputs;  // name, type and dims
  std::vector<std::string> outputs;
  std::string scheduler;

  std::string Text() const {
    if (refused) return "refused";
    std::string text = "batch " + std::to_string(max_batch_size) + ", scheduler '" + scheduler;
    for (const std::string& input : inputs) text += "', input " + input;
    for (const std::string& output : outputs) text += "', output " + output;
    return text;
  }
};

std::string Entry(const std::string& name, const std::string& type,
                  const std::vector<int64_t>& dims) {
  return name + " " + type + " " + ShapeToString(dims);
}

// The rules. ONNX backend of Triton: with both lists given nothing is completed. Otherwise
// the model batches if all first dimensions are open: max_batch_size gets the default if it is left
// out, and above 1 dynamic batching comes without another scheduler; a model that does not batch is
// refused with max_batch_size. A list that is given stays, one that is not gets all tensors. In the
// end Triton refuses entries that lack a type or dims, which Nereid fills (differences.tsv,
// completion-gaps), and any configuration that leaves out an input.
Outcome Rules(const Given& given) {
  Outcome outcome;
  outcome.max_batch_size = given.max_batch_size;
  outcome.scheduler = given.scheduler;
  const bool both = !given.inputs.empty() && !given.outputs.empty();
  if (!given.first_is_open && given.max_batch_size > 0) outcome.refused = true;
  if (given.inputs.size() == 1) outcome.refused = true;
  if (outcome.refused) return outcome;
  if (!both && given.first_is_open) {
    if (given.max_batch_size == 0) outcome.max_batch_size = kDefaultBatch;
    if (outcome.max_batch_size > 1 && given.scheduler.empty()) {
      outcome.scheduler = "dynamic_batching";
    }
  }
  const bool batches = outcome.max_batch_size > 0;
  for (const Known& tensor : given.inputs.empty() ? kInputs : given.inputs) {
    outcome.inputs.push_back(Entry(tensor.name, tensor.type, given.Whole(tensor, batches)));
  }
  for (const Known& tensor : given.outputs.empty() ? kOutputs : given.outputs) {
    outcome.outputs.push_back(Entry(tensor.name, tensor.type, given.Whole(tensor, batches)));
  }
  return outcome;
}

Signature FileOf(const Given& given) {
  const auto tensors = [&](const std::vector<Known>& known) {
    std::vector<ModelTensor> made;
    for (const Known& one : known) {
      ModelTensor tensor;
      tensor.name = one.name;
      tensor.type = ConfigTypeFromName(one.type);
      tensor.dims = given.Whole(one, /*batches=*/false);
      made.push_back(std::move(tensor));
    }
    return made;
  };
  Signature signature;
  signature.inputs = tensors(kInputs);
  signature.outputs = tensors(kOutputs);
  return signature;
}

std::vector<std::string> Entries(const Json& list) {
  std::vector<std::string> entries;
  for (const Json& entry : list.items()) {
    entries.push_back(
        Entry(entry["name"].AsString(), entry["data_type"].AsString(), entry["dims"].AsInts()));
  }
  return entries;
}

// What becomes of the configuration when the model is loaded.
Outcome Load(const Given& given) {
  Outcome outcome;
  const Signature file = FileOf(given);
  const Result<ModelConfig> config = ParseModelConfig(given.Text());
  EXPECT_TRUE(config.ok()) << given.Text();
  const Result<Json> completed = AutoCompleteConfig(*config, file, kDefaultBatch);
  outcome.refused = !completed.ok();
  if (outcome.refused) return outcome;
  const Result<ModelConfig> checked = ParseModelConfig(completed->Write());
  EXPECT_TRUE(checked.ok());
  outcome.refused = !CheckConfig(*checked, file).ok();
  if (outcome.refused) return outcome;
  outcome.max_batch_size = checked->max_batch_size;
  outcome.inputs = Entries((*completed)["input"]);
  outcome.outputs = Entries((*completed)["output"]);
  for (const char* scheduler : {"dynamic_batching", "sequence_batching"}) {
    if (completed->Has(scheduler)) outcome.scheduler += scheduler;
  }
  return outcome;
}

std::vector<Given> EveryConfiguration() {
  const auto subsets = [](const std::vector<Known>& all) -> std::vector<std::vector<Known>> {
    return {{}, {all[0]}, {all[1]}, all};
  };
  // Digits of a number in mixed bases.
  size_t number = 0;
  const auto pick = [&](const auto& choices) {
    const auto& chosen = choices[number % choices.size()];
    number /= choices.size();
    return chosen;
  };
  std::vector<Given> all;
  for (size_t i = 0; number == 0; ++i) {
    number = i;
    Given given;
    given.inputs = pick(subsets(kInputs));
    given.outputs = pick(subsets(kOutputs));
    given.gap = pick(std::vector{Gap::kNone, Gap::kTypes, Gap::kDims, Gap::kBoth});
    given.max_batch_size = pick(std::vector<int64_t>{0, 1, 8});
    given.scheduler = pick(std::vector<std::string>{"", "dynamic_batching", "sequence_batching"});
    given.first_is_open = pick(std::vector<int>{1, 0}) == 1;
    if (number == 0) all.push_back(std::move(given));
  }
  return all;
}

TEST(AutoCompleteTableTest, EveryConfigurationIsCompletedByTheRules) {
  const std::vector<Given> all = EveryConfiguration();
  size_t served = 0;
  for (const Given& given : all) {
    const Outcome expected = Rules(given);
    EXPECT_EQ(Load(given).Text(), expected.Text())
        << given.Text() << "\nof a file whose first dimensions are "
        << (given.first_is_open ? "open" : "fixed");
    served += expected.refused ? 0 : 1;
  }
  EXPECT_EQ(all.size(), 4u * 4 * 4 * 3 * 3 * 2);
  EXPECT_GT(served, 200u);
  EXPECT_EQ(testing::LiveErrors(), 0);
}

}  // namespace
}  // namespace nereid_backend
