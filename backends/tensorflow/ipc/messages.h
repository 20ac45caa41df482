// SPDX-License-Identifier: Apache-2.0
// The messages between the server and the worker. On the control socket: MessageKind and a body,
// one question and its answer at a time. In a channel's shared memory: RunRequest and RunReply.
// Each Unpack returns false, and leaves its result unspecified, for bytes that are not such a
// message. Values.
#ifndef NEREID_BACKENDS_TENSORFLOW_IPC_MESSAGES_H_
#define NEREID_BACKENDS_TENSORFLOW_IPC_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/tensorflow/ipc/pack.h"
#include "backends/tensorflow/ipc/status.h"

namespace nereid_tensorflow {

enum class MessageKind : uint8_t {
  kLoad,          // LoadRequest; answered by LoadReply
  kOpenChannel,   // the channel's number, and with it the descriptor of its memory; by a Status
  kCloseChannel,  // the channel's number; by a Status
};

enum class ModelFormat : uint8_t { kSavedModel, kGraphDef };

struct LoadRequest {
  ModelFormat format = ModelFormat::kSavedModel;
  std::string path;            // a folder (SavedModel) or a file (GraphDef)
  std::string tag;             // SavedModel
  std::string signature;       // SavedModel; empty: serving_default, or the only one
  std::string session_config;  // a ConfigProto
  bool one_thread = false;     // operators run one after the other, in the thread of the run
  std::vector<std::string> op_libraries;
  std::vector<std::string> init_ops;       // run once when the model is loaded
  std::vector<std::string> graph_outputs;  // GraphDef: the requested nodes

  std::string Pack() const;
  static bool Unpack(std::string_view bytes, LoadRequest* request);
};

// An input or output of the model.
struct TensorDescription {
  std::string name;
  int32_t type = 0;  // TensorFlow's DataType; 0: not a single tensor (sparse, composite)
  bool rank_known = true;
  bool has_default = false;  // an input for which the graph has a value
  Dims dims;

  bool operator==(const TensorDescription&) const = default;
};

struct LoadReply {
  Status status;
  std::string runtime_version;
  std::string signature;                  // SavedModel: the name of the signature that is served
  bool fixed_order = false;               // by the executor of plain_graph.h
  std::vector<TensorDescription> inputs;  // a run names them by their places in these lists
  std::vector<TensorDescription> outputs;

  std::string Pack() const;
  static bool Unpack(std::string_view bytes, LoadReply* reply);
};

std::string PackStatus(const Status& status);
bool UnpackStatus(std::string_view bytes, Status* status);

// A tensor in the memory of a channel. Elements of strings have a length of 4 bytes, little-endian,
// before each.
struct PlacedTensor {
  uint32_t index = 0;  // in LoadReply::inputs or outputs
  int32_t type = 0;    // TensorFlow's DataType; only of outputs
  Dims dims;
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct RunRequest {
  std::vector<PlacedTensor> inputs;
  std::vector<uint32_t> outputs;
  uint64_t outputs_offset = 0;  // the worker may write from here on

  void PackTo(Packer* packer) const;
  static bool Unpack(std::string_view bytes, RunRequest* request);
};

struct RunReply {
  Status status;
  std::vector<PlacedTensor> outputs;  // in the order of the request

  std::string Pack() const;
  // Also false if a tensor is not within `memory_size` bytes.
  static bool Unpack(std::string_view bytes, uint64_t memory_size, RunReply* reply);
};

// Tensors lie at multiples of this: the alignment required by TensorFlow, and a cache line.
constexpr uint64_t kTensorAlignment = 64;
constexpr uint64_t AlignUp(uint64_t offset) {
  return (offset + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_IPC_MESSAGES_H_
