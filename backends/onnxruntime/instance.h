// OnnxInstance: runs batches of one model instance on the session that it shares with the other
// instances. Owned by the instance's thread; the buffers live from batch to batch.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_INSTANCE_H_
#define NEREID_BACKENDS_ONNXRUNTIME_INSTANCE_H_

#include <onnxruntime_cxx_api.h>

#include <memory>
#include <vector>

#include "backends/onnxruntime/model.h"
#include "backends/onnxruntime/tensor_io.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/scratch.h"

namespace nereid_backend {

class OnnxInstance {
 public:
  static Result<std::unique_ptr<OnnxInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                      const OnnxModel& model);

  // Answers the requests of `batch`. One that can not be run fails alone. Requests whose shapes
  // differ in more than the rows, and all requests to a model without batching, run one by one.
  Error Execute(Batch* batch);

 private:
  // A request that passed the checks.
  struct Prepared {
    std::vector<PreparedInput> inputs;  // in the order of model_.inputs()
    std::vector<bool> wanted;           // in the order of model_.outputs(): asked for by the client
  };
  // An output of a Run. `reserved` is its place in the only response of the group, if that could
  // be made before the Run; the runtime writes there unless the place is not aligned.
  struct PlannedOutput {
    const BoundTensor* tensor = nullptr;
    size_t index = 0;  // in model_.outputs()
    char* reserved = nullptr;
    size_t reserved_size = 0;
    bool in_place = false;
  };
  // What of an output belongs to one request: rows, or elements where it is scattered.
  struct OutputPart {
    Shape shape;
    int64_t first = 0;
    int64_t count = 0;
  };
  using Group = std::vector<size_t>;  // indices into the batch

  explicit OnnxInstance(const OnnxModel& model);

  Error Prepare(Batch* batch, size_t i);
  Error PrepareRows(Batch* batch, size_t i);
  // Whether the part of a scattered `output` that request i is to get has a size that can be.
  Error CheckScattered(size_t i, const BoundTensor& output) const;
  bool SameShapes(size_t a, size_t b) const;
  Error RunGroup(Batch* batch, const Group& group);
  Error MakeInputs(const Group& group, int64_t rows);
  Error MakeComputedInput(const Group& group, size_t k);
  ShapeView ShapeOf(size_t i, size_t input) const;
  Error PlanOutputs(Batch* batch, const Group& group, int64_t rows);
  Error RunOrReplan(Batch* batch, const Group& group, int64_t rows);
  // Runs the session on input_values_ and the outputs of planned_.
  Error Run(int64_t rows);
  void LearnShapes(int64_t rows);
  Error SendOutput(Batch* batch, const Group& group, int64_t rows, size_t k);
  // What a scattered output has for each request of the group.
  std::vector<OutputPart> ScatteredParts(const Group& group, const BoundTensor& tensor) const;
  void SendParts(Batch* batch, const Group& group, const PlannedOutput& output,
                 const OutputSlicer& slicer, const std::vector<OutputPart>& parts);
  Error SendPart(Batch* batch, size_t i, const PlannedOutput& output, const OutputSlicer& slicer,
                 const OutputPart& part);

  const OnnxModel& model_;
  const bool batching_;
  const Ort::MemoryInfo memory_;
  const Ort::RunOptions run_options_;
  // One for each input, then one for each computed input: a batch needs all of them at a time.
  std::vector<Scratch> scratch_;
  // Reused by each batch.
  std::vector<Prepared> prepared_;
  std::vector<const char*> input_names_;
  std::vector<Ort::Value> input_values_;
  std::vector<PlannedOutput> planned_;
  std::vector<const char*> output_names_;
  std::vector<Ort::Value> output_values_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_INSTANCE_H_
