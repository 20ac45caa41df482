// SPDX-License-Identifier: Apache-2.0
// Random ensembles are executed in a random order on one or several threads. The results must be
// those of a simple walk over the graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "scheduling/testing/ensemble_fixture.h"

namespace nereid {
namespace {

class RandomGraphsTest : public EnsembleFixture {
 protected:
  using Values = std::map<std::string, int32_t>;

  uint32_t Below(uint32_t limit) {
    return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_);
  }

  // The value of output `port` of step `step` for these inputs.
  static int32_t Mix(size_t step, size_t port, const Ints& inputs) {
    uint32_t mixed = static_cast<uint32_t>(step * 31 + port * 7 + 1);
    for (const int32_t value : inputs) mixed = mixed * 2654435761u + static_cast<uint32_t>(value);
    return static_cast<int32_t>(mixed);
  }

  FakeStep::Outputs Compute(size_t step, InferRequest* request) const {
    Ints inputs;
    for (const TensorMapping& input : spec_.steps[step].inputs) {
      inputs.push_back(InputOf(request, input.name)[0]);
    }
    FakeStep::Outputs outputs;
    for (size_t i = 0; i < spec_.steps[step].outputs.size(); ++i) {
      outputs[spec_.steps[step].outputs[i].name] = {Mix(step, i, inputs)};
    }
    return outputs;
  }

  // Makes a graph of `count` steps in random order, each with a model of its own.
  void MakeGraph(size_t count) {
    builder_ = ModelBuilder("e");
    spec_ = {};
    spec_.max_inflight_requests = Below(2);
    std::vector<std::string> tensors;
    for (uint32_t i = 0, inputs = 1 + Below(3); i < inputs; ++i) {
      tensors.push_back(absl::StrCat("in", i));
      Input(tensors.back());
    }
    inputs_ = tensors;
    outputs_.clear();
    std::vector<std::string> written;
    for (size_t s = 0; s < count; ++s) {
      EnsembleStep& step = spec_.steps.emplace_back();
      step.model_name = absl::StrCat("m", s);
      for (uint32_t i = 0, inputs = 1 + Below(3); i < inputs; ++i) {
        step.inputs.push_back(
            {absl::StrCat("I", i), tensors[Below(static_cast<uint32_t>(tensors.size()))]});
      }
      for (uint32_t i = 0, outputs = 1 + Below(2); i < outputs; ++i) {
        step.outputs.push_back({absl::StrCat("O", i), absl::StrCat("t", s, "_", i)});
      }
      for (const TensorMapping& output : step.outputs) {
        tensors.push_back(output.tensor);
        written.push_back(output.tensor);
      }
    }
    for (const std::string& tensor : written) {
      if (Below(3) == 0) outputs_.push_back(tensor);
    }
    if (outputs_.empty()) outputs_.push_back(written.back());
    for (const std::string& output : outputs_) Output(output);
    std::shuffle(spec_.steps.begin(), spec_.steps.end(), random_);
    for (const EnsembleStep& step : spec_.steps) {
      std::vector<std::string> in, out;
      for (const TensorMapping& input : step.inputs) in.push_back(input.name);
      for (const TensorMapping& output : step.outputs) out.push_back(output.name);
      Model(step.model_name, in, out);
    }
    Build();
  }

  // The values of all tensors, computed by walking the graph. Adds to `needed` the steps that
  // `wanted` needs.
  Values Walk(const Values& inputs, const std::vector<std::string>& wanted,
              std::set<size_t>* needed) const {
    Values values = inputs;
    std::map<std::string, size_t> writer;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t s = 0; s < spec_.steps.size(); ++s) {
        const EnsembleStep& step = spec_.steps[s];
        Ints ints;
        for (const TensorMapping& input : step.inputs) {
          if (const auto it = values.find(input.tensor); it != values.end()) {
            ints.push_back(it->second);
          }
        }
        if (ints.size() < step.inputs.size() || values.count(step.outputs[0].tensor) > 0) continue;
        for (size_t i = 0; i < step.outputs.size(); ++i) {
          values[step.outputs[i].tensor] = Mix(s, i, ints);
          writer[step.outputs[i].tensor] = s;
        }
        changed = true;
      }
    }
    std::vector<std::string> pending = wanted;
    while (!pending.empty()) {
      const auto it = writer.find(pending.back());
      pending.pop_back();
      if (it == writer.end() || !needed->insert(it->second).second) continue;
      for (const TensorMapping& input : spec_.steps[it->second].inputs) {
        pending.push_back(input.tensor);
      }
    }
    return values;
  }

  struct Case {
    TestRequest* request;
    std::vector<std::string> wanted;
    Values expected;
  };

  // Starts a request with random inputs for random outputs.
  Case StartOne(std::vector<int>* runs_of_step) {
    Case c;
    std::map<std::string, Ints> inputs;
    Values values;
    for (const std::string& input : inputs_) {
      values[input] = static_cast<int32_t>(Below(1000));
      inputs[input] = {values[input]};
    }
    for (const std::string& output : outputs_) {
      if (Below(2) == 0) c.wanted.push_back(output);
    }
    std::set<size_t> needed;
    c.expected = Walk(values, c.wanted.empty() ? outputs_ : c.wanted, &needed);
    for (const size_t s : needed) ++(*runs_of_step)[s];
    c.request = &Start(inputs, c.wanted);
    return c;
  }

  static void Check(const Case& c, const std::vector<std::string>& all) {
    c.request->WaitDone();
    ASSERT_TRUE(c.request->final_status().ok()) << c.request->final_status();
    ASSERT_EQ(c.request->answer_count(), 1u);
    const std::vector<std::string>& wanted = c.wanted.empty() ? all : c.wanted;
    const InferResponse& response = *c.request->answer(0).response;
    EXPECT_EQ(response.outputs().size(), wanted.size());
    for (const std::string& output : wanted) {
      EXPECT_EQ(OutputOf(response, output), Ints{c.expected.at(output)}) << output;
    }
  }

  void CheckRuns(const std::vector<int>& runs_of_step) {
    for (size_t s = 0; s < spec_.steps.size(); ++s) {
      EXPECT_EQ(step(spec_.steps[s].model_name).seen(), runs_of_step[s]);
    }
  }

  void Reset() {
    requests_.clear();
    scheduler_.reset();
    ensemble_.reset();
    steps_.clear();
  }

  std::mt19937 random_{20261121};
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
};

TEST_F(RandomGraphsTest, StepsEndInAnyOrder) {
  for (int round = 0; round < 200; ++round) {
    MakeGraph(1 + Below(12));
    std::vector<int> runs(spec_.steps.size(), 0);
    std::vector<Case> cases;
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) cases.push_back(StartOne(&runs));
    while (true) {
      std::vector<size_t> busy;
      for (size_t s = 0; s < spec_.steps.size(); ++s) {
        if (step(spec_.steps[s].model_name).held() > 0) busy.push_back(s);
      }
      if (busy.empty()) break;
      const size_t s = busy[Below(static_cast<uint32_t>(busy.size()))];
      FakeStep& model = step(spec_.steps[s].model_name);
      RequestPtr request = model.Take(Below(static_cast<uint32_t>(model.held())));
      const FakeStep::Outputs outputs = Compute(s, request.get());
      FakeStep::Finish(std::move(request), outputs);
    }
    for (const Case& c : cases) Check(c, outputs_);
    CheckRuns(runs);
    if (HasFailure()) FAIL() << "round " << round;
    Reset();
  }
}

TEST_F(RandomGraphsTest, StepsEndOnManyThreads) {
  for (int round = 0; round < 20; ++round) {
    MakeGraph(4 + Below(8));
    std::vector<int> runs(spec_.steps.size(), 0);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (size_t s = 0; s < spec_.steps.size(); ++s) {
      threads.emplace_back([this, s, &stop] {
        FakeStep& model = step(spec_.steps[s].model_name);
        while (!stop.load()) {
          if (model.held() == 0) {
            std::this_thread::yield();
            continue;
          }
          RequestPtr request = model.Take();  // no other thread takes requests of this model
          const FakeStep::Outputs outputs = Compute(s, request.get());
          FakeStep::Finish(std::move(request), outputs);
        }
      });
    }
    std::vector<Case> cases;
    for (int i = 0; i < 20; ++i) cases.push_back(StartOne(&runs));
    for (const Case& c : cases) Check(c, outputs_);
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    CheckRuns(runs);
    if (HasFailure()) FAIL() << "round " << round;
    Reset();
  }
}

TEST_F(RandomGraphsTest, CancellationsAndErrorsLeaveNothingBehind) {
  for (int round = 0; round < 100; ++round) {
    MakeGraph(2 + Below(8));
    std::vector<int> runs(spec_.steps.size(), 0);
    Case c = StartOne(&runs);
    const uint32_t blow_at = Below(6);
    for (uint32_t turn = 0;; ++turn) {
      std::vector<size_t> busy;
      for (size_t s = 0; s < spec_.steps.size(); ++s) {
        if (step(spec_.steps[s].model_name).held() > 0) busy.push_back(s);
      }
      if (busy.empty()) break;
      const size_t s = busy[Below(static_cast<uint32_t>(busy.size()))];
      RequestPtr request = step(spec_.steps[s].model_name).Take();
      if (turn == blow_at && round % 2 == 0) {
        FakeStep::FinishWithError(std::move(request), absl::InternalError("blown"));
        continue;
      }
      if (turn == blow_at) {
        ASSERT_TRUE((*c.request)->Cancel().ok());
      }
      const FakeStep::Outputs outputs = Compute(s, request.get());
      FakeStep::Finish(std::move(request), outputs);
    }
    c.request->WaitDone();
    EXPECT_EQ(c.request->answer_count(), 1u);
    EXPECT_EQ(c.request->releases(), 1);
    Reset();
  }
}

}  // namespace
}  // namespace nereid
