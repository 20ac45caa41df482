// SPDX-License-Identifier: Apache-2.0
// GraphExecutor: divides a batch of requests into runs of a model, and answers the requests from
// the results of the runs. It is independent of the runtime: the backend computes each run.
//
//   executor.Begin(&batch);
//   while (executor.Next()) executor.End(Compute(executor.inputs(), executor.outputs()));
//
// Compute also calls MarkComputeStart and MarkComputeEnd of the batch, because only the backend
// knows when the inputs are laid out. Between Next and End another thread may take over, so that a
// runtime can compute while the instance continues; otherwise used by one thread. The buffers are
// reused from batch to batch.
#ifndef NEREID_BACKENDS_SDK_GRAPH_EXECUTOR_H_
#define NEREID_BACKENDS_SDK_GRAPH_EXECUTOR_H_

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/sdk/batch.h"
#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/graph/output_blocks.h"
#include "backends/sdk/graph/tensor_io.h"
#include "backends/sdk/scratch.h"

namespace nereid_backend {

class GraphExecutor {
 public:
  // Whether the runtime can write results into given memory.
  enum class Outputs { kInPlace, kInOwnMemory };

  // `model` outlives the executor.
  GraphExecutor(const BoundModel& model, Outputs outputs);

  // Whether two requests of the batch (given by index) may share a run, for backends with
  // conditions beyond the shapes of the inputs. `b` comes later in the batch. If not set, they may.
  using MayJoin = std::function<bool(size_t a, size_t b)>;
  void set_may_join(MayJoin may_join) { may_join_ = std::move(may_join); }

  // Starts with `batch`, which the caller keeps until after its last run. A request that cannot be
  // run fails alone. REQUIRES: the runs of the batch before have ended.
  void Begin(Batch* batch);

  // Makes the next run ready; false if all requests are answered. Requests whose shapes differ in
  // more than the rows, and all requests to a model without batching, run one by one.
  bool Next();
  Batch& batch() { return *batch_; }
  // The inputs and outputs of the run. Valid until End.
  std::span<TRITONBACKEND_Request* const> requests() const { return requests_; }
  // Rows of the run; for models without batching, of no meaning. Valid until End.
  int64_t rows() const { return rows_; }
  // Valid until End.
  std::span<const size_t> group() const { return group_; }  // indices in the batch
  std::span<RunInput> inputs() { return {run_inputs_.data(), input_count_}; }
  std::span<RunOutput> outputs() { return {run_outputs_.data(), output_count_}; }

  // Call after a run failed because a result does not fit its buffer: prepares the same run without
  // buffers. False if no output had one.
  bool Replan();

  // Answers the requests of the run, from outputs() or, if it failed, with `ran`.
  void End(const Error& ran);

 private:
  // A request that passed the checks.
  struct Prepared {
    std::vector<PreparedInput> inputs;  // in the order of model_.inputs()
    std::vector<bool> wanted;           // in the order of model_.outputs(): requested by the client
  };
  // The part of an output that belongs to one request: rows, or elements if the output is
  // scattered.
  struct OutputPart {
    Shape shape;
    int64_t first = 0;
    int64_t count = 0;
  };
  using Group = std::vector<size_t>;  // indices into the batch

  Error Prepare(size_t i);
  Error PrepareRows(size_t i);
  // Whether the part of a scattered `output` for request i has a possible size.
  Error CheckScattered(size_t i, const BoundTensor& output) const;
  bool SameShapes(size_t a, size_t b) const;
  bool MayJoinGroup(size_t i) const;
  void TakeGroup();
  void FailGroup(const Error& error);
  Error MakeInputs();
  Error MakeComputedInput(size_t k);
  RunInput* AddInput(size_t index);
  ShapeView ShapeOf(size_t i, size_t input) const;
  Error PlanOutputs();
  Error ReservePlaces();
  Error ReserveInResponse();
  void ReserveBlocks();
  void PlanPlace(RunOutput* output) const;
  void LearnShapes();
  Error SendOutput(const RunOutput& output);
  // The parts of a scattered output, one per request of the group.
  std::vector<OutputPart> ScatteredParts(const BoundTensor& tensor) const;
  std::vector<OutputPart> RowParts(const OutputSlicer& slicer) const;
  void SendParts(const RunOutput& output, const OutputSlicer& slicer,
                 const std::vector<OutputPart>& parts);
  Error SendPart(size_t i, const RunOutput& output, const OutputSlicer& slicer,
                 const OutputPart& part);
  Error AddOutput(size_t i, const RunOutput& output, const OutputSlicer& slicer,
                  const OutputPart& part);

  const BoundModel& model_;
  const bool batching_;
  const bool in_place_;
  const std::shared_ptr<OutputBlocks> blocks_ = OutputBlocks::Create();
  MayJoin may_join_;
  // One per input, then one per computed input: a run needs all of them at once.
  std::vector<Scratch> scratch_;

  Batch* batch_ = nullptr;
  Group waiting_;                                 // checked, not run yet
  Group group_;                                   // in the run
  int64_t rows_ = 0;                              // of the run
  std::vector<TRITONBACKEND_Request*> requests_;  // of the run

  // Reused by each batch.
  std::vector<Prepared> prepared_;
  std::vector<RunInput> run_inputs_;  // the first input_count_ are in use
  size_t input_count_ = 0;
  std::vector<RunOutput> run_outputs_;
  size_t output_count_ = 0;
  std::vector<const PreparedInput*> parts_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_EXECUTOR_H_
