// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/validate/checks.h"
#include "model/shape.h"

namespace nereid {
namespace {

using inference::ModelInput;

constexpr char kTensorRtPlatform[] = "tensorrt_plan";
constexpr char kDimensionRule[] =
    "must be integer >= 1, or -1 to indicate a variable-size dimension";

bool IsValidDim(int64_t dim) { return dim >= 1 || dim == kVariableDim; }

Shape ToShape(const google::protobuf::RepeatedField<int64_t>& dims) {
  return Shape(dims.begin(), dims.end());
}

// Products of the fixed dimensions before, between and after the variable ones; none on overflow.
std::optional<std::vector<int64_t>> FixedProducts(const Shape& shape) {
  std::vector<int64_t> products = {1};
  for (const int64_t dim : shape) {
    if (dim == kVariableDim) {
      products.push_back(1);
    } else if (__builtin_mul_overflow(products.back(), dim, &products.back())) {
      return std::nullopt;
    }
  }
  return products;
}

// Checks one ModelInput or ModelOutput; both have the fields used here. Lives for one check.
template <typename Io>
class IoCheck {
 public:
  // `direction`: "input" or "output".
  IoCheck(const inference::ModelConfig& config, const Io& io, const char* direction, int index,
          Diagnostics* diagnostics)
      : config_(config),
        io_(io),
        direction_(direction),
        field_(absl::StrCat(direction, "[", index, "]")),
        diagnostics_(*diagnostics) {}

  void Run() {
    if (io_.name().empty()) {
      Add(".name", absl::StrCat("model ", direction_, " must specify 'name'"),
          "the name that the model gives the tensor");
    }
    if (io_.data_type() == inference::TYPE_INVALID) {
      AddMissing(".data_type", "must specify 'data_type'", "for instance TYPE_FP32");
    } else if (!inference::DataType_IsValid(io_.data_type())) {
      Add(".data_type", Prefixed("must specify 'data_type'"), "for instance TYPE_FP32");
    }
    if (io_.dims().empty()) {
      AddMissing(".dims", "must specify 'dims'",
                 "the shape without the batch dimension; [ 1 ] for scalars");
    }
    const bool dims_valid = CheckDims(".dims", io_.dims(), "dimension ");
    if (io_.has_reshape()) {
      if (io_.reshape().shape().empty() && config_.max_batch_size() == 0) {
        Add(".reshape",
            Prefixed("cannot have empty reshape for non-batching model as scalar tensors are not "
                     "supported"),
            "remove it, or set max_batch_size");
      }
      if (CheckDims(".reshape.shape", io_.reshape().shape(), "reshape dimensions ") && dims_valid &&
          !io_.dims().empty()) {
        CheckReshape();
      }
    }
    if (dims_valid) CheckSize();
    CheckTensorRtOnly();
  }

  void Add(absl::string_view field, absl::string_view text, std::string hint) {
    diagnostics_.Add(absl::StrCat(field_, field), absl::StrCat(text, " for ", config_.name()),
                     std::move(hint));
  }

 private:
  void AddMissing(absl::string_view field, absl::string_view text, std::string hint) {
    diagnostics_.AddMissing(absl::StrCat(field_, field),
                            absl::StrCat(Prefixed(text), " for ", config_.name()), std::move(hint));
  }

  // "model input 'X' <text>"
  std::string Prefixed(absl::string_view text) const {
    return absl::StrCat("model ", direction_, " '", io_.name(), "' ", text);
  }

  bool CheckDims(absl::string_view field, const google::protobuf::RepeatedField<int64_t>& dims,
                 absl::string_view what) {
    bool valid = true;
    for (int i = 0; i < dims.size(); ++i) {
      if (IsValidDim(dims[i])) continue;
      valid = false;
      Add(absl::StrCat(field, "[", i, "]"), Prefixed(absl::StrCat(what, kDimensionRule)),
          absl::StrCat("got ", dims[i]));
    }
    return valid;
  }

  // REQUIRES: all dimensions of both shapes are valid, and `dims` is not empty.
  void CheckReshape() {
    const Shape dims = ToShape(io_.dims());
    const Shape reshape = ToShape(io_.reshape().shape());
    const std::string hint = absl::StrCat(ShapeToString(dims), " against ", ShapeToString(reshape));
    const auto variable_dims = [](const Shape& shape) {
      return absl::c_count(shape, kVariableDim);
    };
    const bool both_vary = variable_dims(dims) > 0 && variable_dims(reshape) > 0;
    if (both_vary && variable_dims(dims) != variable_dims(reshape)) {
      Add(".reshape.shape",
          Prefixed("has different number of variable-size dimensions for dims and reshape"), hint);
    } else if (FixedProducts(dims) != FixedProducts(reshape)) {
      Add(".reshape.shape", Prefixed("has different size for dims and reshape"), hint);
    }
  }

  // REQUIRES: all dimensions are valid.
  void CheckSize() {
    const Shape dims = ToShape(io_.dims());
    if (absl::c_linear_search(dims, kVariableDim)) return;
    const auto type = static_cast<DataType>(io_.data_type());
    const char* what = nullptr;
    if (!ElementCount(dims).has_value()) {
      what = "element count";
    } else if (DataTypeByteSize(type) != 0 && !TensorByteSize(type, dims).has_value()) {
      what = "byte size";
    } else {
      return;
    }
    Add(".dims",
        absl::StrCat(what, " for tensor '", io_.name(), "' exceeds maximum size of ",
                     std::numeric_limits<int64_t>::max()),
        ShapeToString(dims));
  }

  void CheckTensorRtOnly() {
    const bool is_tensorrt = config_.platform() == kTensorRtPlatform;
    if (io_.is_shape_tensor() && !is_tensorrt) {
      Add(".is_shape_tensor", "shape tensors are only supported for TensorRT platform",
          "remove it");
    }
    if (!io_.is_non_linear_format_io()) return;
    if (!is_tensorrt) {
      Add(".is_non_linear_format_io",
          "Non-linear IO format is only supported for the TensorRT platform", "remove it");
    }
    if (io_.dims_size() != 3) {
      Add(".dims", absl::StrCat("Non-linear IO format ", direction_, " requires 3 dims"),
          absl::StrCat("got ", io_.dims_size()));
    }
  }

  const inference::ModelConfig& config_;
  const Io& io_;
  const char* const direction_;
  const std::string field_;
  Diagnostics& diagnostics_;
};

void CheckFormat(const ModelInput& input, IoCheck<ModelInput>* check) {
  if (input.format() == ModelInput::FORMAT_NONE || input.dims_size() == 3) return;
  check->Add(".format", "model input NHWC/NCHW require 3 dims",
             absl::StrCat("got ", input.dims_size(), " dims"));
}

// Whether a path relative to the model directory leads out of it.
bool IsOutside(absl::string_view path) {
  int depth = 0;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == ".") continue;
    depth += part == ".." ? -1 : 1;
    if (depth < 0) return true;
  }
  return !path.empty() && path[0] == '/';
}

void CheckLabels(const inference::ModelConfig& config, int index, Diagnostics* diagnostics) {
  const inference::ModelOutput& output = config.output(index);
  if (!IsOutside(output.label_filename())) return;
  diagnostics->Add(
      absl::StrCat("output[", index, "].label_filename"),
      absl::StrCat("label file path '", output.label_filename(), "' for output '", output.name(),
                   "' in model '", config.name(), "' is outside model directory"),
      "a path relative to the model directory", absl::StatusCode::kUnimplemented);
}

// Triton silently drops the second of two tensors with the same name.
template <typename Ios>
void CheckDistinct(const inference::ModelConfig& config, const Ios& ios, const char* direction,
                   Diagnostics* diagnostics) {
  std::set<std::string> names;
  for (int i = 0; i < ios.size(); ++i) {
    if (ios[i].name().empty() || names.insert(ios[i].name()).second) continue;
    diagnostics->Add(absl::StrCat(direction, "[", i, "].name"),
                     absl::StrCat("model ", direction, " '", ios[i].name(),
                                  "' is specified more than once for ", config.name()),
                     "each name once");
  }
}

}  // namespace

void CheckTensors(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  for (int i = 0; i < config.input_size(); ++i) {
    IoCheck<ModelInput> check(config, config.input(i), "input", i, diagnostics);
    check.Run();
    CheckFormat(config.input(i), &check);
  }
  for (int i = 0; i < config.output_size(); ++i) {
    IoCheck<inference::ModelOutput>(config, config.output(i), "output", i, diagnostics).Run();
    CheckLabels(config, i, diagnostics);
  }
  CheckDistinct(config, config.input(), "input", diagnostics);
  CheckDistinct(config, config.output(), "output", diagnostics);
}

}  // namespace nereid
