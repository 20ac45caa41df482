// SPDX-License-Identifier: Apache-2.0
// Writes the TorchScript files that tests and the race track serve, and prints the answers of
// PyTorch alone. Uses the C++ API, because importing PyTorch in Python needs all of CUDA's
// libraries.
//
//   torch_models write FOLDER            FOLDER/NAME.pt for each model
//   torch_models run MODEL.pt FOLDER     inputs FOLDER/in-I.TYPE.SHAPE, outputs
//   FOLDER/out-I.TYPE.SHAPE
//
// TYPE and SHAPE are as in in-0.FP32.2x64; the files hold the elements. One thread computes.
#include <ATen/Parallel.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>
#include <torch/script.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

using torch::jit::Module;

// Weights that are the same in each run, scaled so that values do not grow from layer to layer.
at::Tensor Weight(at::IntArrayRef shape) {
  int64_t fan_in = 1;
  for (size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
  return at::randn(shape) / std::sqrt(static_cast<double>(fan_in));
}

void Parameter(Module* module, const std::string& name, at::Tensor value) {
  module->register_parameter(name, std::move(value), /*is_buffer=*/false);
}

void LinearLayer(Module* module, const std::string& name, int64_t in, int64_t out) {
  Parameter(module, name + "_w", Weight({out, in}));
  Parameter(module, name + "_b", at::randn({out}) * 0.1);
}

Module Mlp() {
  Module module("Mlp");
  LinearLayer(&module, "a", 64, 256);
  LinearLayer(&module, "b", 256, 256);
  LinearLayer(&module, "c", 256, 10);
  module.define(R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.relu(torch.linear(x, self.a_w, self.a_b))
    x = torch.relu(torch.linear(x, self.b_w, self.b_b))
    return torch.linear(x, self.c_w, self.c_b)
)");
  return module;
}

// ResNet-18 as a text: one line for each layer, and the weights beside it.
class ResNet {
 public:
  Module Build() {
    Conv("stem", 3, 64, 7, 2, 3, "x", "x", true);
    body_ += "    x = torch.max_pool2d(x, [3, 3], [2, 2], [1, 1])\n";
    int64_t channels = 64;
    for (int stage = 0; stage < 4; ++stage) {
      const int64_t wide = 64 << stage;
      for (int block = 0; block < 2; ++block) {
        const bool shrinks = stage > 0 && block == 0;
        Block(StrName(stage, block), channels, wide, shrinks);
        channels = wide;
      }
    }
    LinearLayer(&module_, "head", 512, 1000);
    body_ +=
        "    x = torch.flatten(torch.adaptive_avg_pool2d(x, [1, 1]), 1)\n"
        "    return torch.linear(x, self.head_w, self.head_b)\n";
    module_.define("def forward(self, x: Tensor) -> Tensor:\n" + body_);
    return module_;
  }

 private:
  static std::string StrName(int stage, int block) {
    return "s" + std::to_string(stage) + "b" + std::to_string(block);
  }

  void Block(const std::string& name, int64_t in, int64_t out, bool shrinks) {
    Conv(name + "c1", in, out, 3, shrinks ? 2 : 1, 1, "x", "y", true);
    Conv(name + "c2", out, out, 3, 1, 1, "y", "y", false);
    if (shrinks) Conv(name + "d", in, out, 1, 2, 0, "x", "x", false);
    body_ += "    x = torch.relu(x + y)\n";
  }

  // Convolution and batch norm.
  void Conv(const std::string& name, int64_t in, int64_t out, int64_t kernel, int stride, int pad,
            const char* from, const char* to, bool relu) {
    Parameter(&module_, name + "_w", Weight({out, in, kernel, kernel}) * 1.4);
    Parameter(&module_, name + "_g", at::rand({out}) * 0.2 + 0.9);
    Parameter(&module_, name + "_b", at::randn({out}) * 0.1);
    Parameter(&module_, name + "_m", at::randn({out}) * 0.1);
    Parameter(&module_, name + "_v", at::rand({out}) * 0.2 + 0.9);
    const std::string s = std::to_string(stride);
    const std::string p = std::to_string(pad);
    const std::string self = "self." + name;
    std::string text = "torch.batch_norm(torch.conv2d(" + std::string(from) + ", " + self +
                       "_w, None, [" + s + ", " + s + "], [" + p + ", " + p + "], [1, 1], 1), " +
                       self + "_g, " + self + "_b, " + self + "_m, " + self +
                       "_v, False, 0.1, 1e-5, False)";
    if (relu) text = "torch.relu(" + text + ")";
    body_ += "    " + std::string(to) + " = " + text + "\n";
  }

  Module module_{"ResNet18"};
  std::string body_;
};

void ReplaceAll(std::string* text, const std::string& what, const std::string& by) {
  for (size_t at = text->find(what); at != std::string::npos; at = text->find(what, at)) {
    text->replace(at, what.size(), by);
    at += by.size();
  }
}

// Layers of an encoder: 4 heads, four times the width in between.
Module Transformer(int layers, int width) {
  Module module("Transformer");
  std::string body = "def forward(self, x: Tensor) -> Tensor:\n";
  for (int i = 0; i < layers; ++i) {
    const std::string layer = "l" + std::to_string(i);
    LinearLayer(&module, layer + "_qkv", width, 3 * width);
    LinearLayer(&module, layer + "_out", width, width);
    LinearLayer(&module, layer + "_up", width, 4 * width);
    LinearLayer(&module, layer + "_down", 4 * width, width);
    for (const char* norm : {"_n1", "_n2"}) {
      Parameter(&module, layer + norm + "_w", at::rand({width}) + 0.5);
      Parameter(&module, layer + norm + "_b", at::randn({width}) * 0.1);
    }
    std::string text = R"(
    n = torch.layer_norm(x, [WIDTH], self.L_n1_w, self.L_n1_b)
    qkv = torch.linear(n, self.L_qkv_w, self.L_qkv_b)
    q, k, v = torch.unbind(qkv.reshape(x.size(0), x.size(1), 3, 4, HEAD).permute(2, 0, 3, 1, 4))
    a = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * (HEAD ** -0.5), -1)
    a = torch.matmul(a, v).transpose(1, 2).reshape(x.size(0), x.size(1), WIDTH)
    x = x + torch.linear(a, self.L_out_w, self.L_out_b)
    n = torch.layer_norm(x, [WIDTH], self.L_n2_w, self.L_n2_b)
    n = torch.gelu(torch.linear(n, self.L_up_w, self.L_up_b))
    x = x + torch.linear(n, self.L_down_w, self.L_down_b)
)";
    ReplaceAll(&text, "L_", layer + "_");
    ReplaceAll(&text, "WIDTH", std::to_string(width));
    ReplaceAll(&text, "HEAD", std::to_string(width / 4));
    body += text;
  }
  module.define(body + "    return x\n");
  return module;
}

// One step: 16 values in, 8 out, 32 of state and 32 of memory.
Module Lstm() {
  Module module("Lstm");
  LinearLayer(&module, "x", 16, 128);
  LinearLayer(&module, "h", 32, 128);
  LinearLayer(&module, "y", 32, 8);
  module.define(R"(
def forward(self, x: Tensor, h: Tensor, c: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    gates = torch.linear(x, self.x_w, self.x_b) + torch.linear(h, self.h_w, self.h_b)
    i, f, g, o = torch.chunk(gates, 4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    return torch.linear(h, self.y_w, self.y_b), h, c
)");
  return module;
}

// `fork`, which the C++ API leaves to Python.
struct ForkResolver : torch::jit::NativeResolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(
      const std::string& name, torch::jit::GraphFunction& function,
      const torch::jit::SourceRange& place) override {
    if (name == "fork") return torch::jit::SpecialFormValue::create(c10::prim::fork);
    return NativeResolver::resolveValue(name, function, place);
  }
};

Module FromText(const std::string& name, const std::string& text) {
  Module module(name);
  module.define(text, std::make_shared<ForkResolver>());
  return module;
}

// Small models for single tests, as source text.
const std::map<std::string, std::string>& Texts() {
  static const std::map<std::string, std::string> texts = {
      {"strings", R"(
def forward(self, texts: List[str]) -> Tuple[List[str], Tensor]:
    upper: List[str] = []
    sizes: List[int] = []
    for text in texts:
        upper.append(text.upper())
        sizes.append(len(text))
    return upper, torch.tensor(sizes)
)"},
      {"echo_strings", R"(
def forward(self, texts: List[str]) -> List[str]:
    return texts
)"},
      {"history", R"(
def forward(self, word: List[str], seen: List[str]) -> Tuple[List[str], List[str]]:
    seen = [seen[0] + word[0]]
    return seen, seen
)"},
      {"identity", R"(
def forward(self, x: Tensor) -> Tensor:
    return x
)"},
      {"transposed", R"(
def forward(self, x: Tensor) -> Tensor:
    return x.transpose(-1, -2)
)"},
      {"minus", R"(
def forward(self, a: Tensor, b: Tensor) -> Tensor:
    return a - b
)"},
      {"dictionary", R"(
def forward(self, values: Dict[str, Tensor]) -> Dict[str, Tensor]:
    total = values["left"]
    if "right" in values:
        total = total - values["right"]
    return {"difference": total, "twice": total * 2}
)"},
      {"optional", R"(
def forward(self, x: Tensor, bias: Optional[Tensor] = None, scale: float = 3.0) -> Tensor:
    y = x * scale
    if bias is not None:
        y = y + bias
    return y
)"},
      {"pair", R"(
def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
    return x + 1, x - 1
)"},
      {"in_place", R"(
def forward(self, x: Tensor) -> Tensor:
    return x.add_(1)
)"},
      {"scalar", R"(
def forward(self, x: Tensor) -> Tensor:
    return x.sum()
)"},
      {"argmax", R"(
def forward(self, x: Tensor) -> Tensor:
    return torch.argmax(x, -1)
)"},
      {"nested", R"(
def forward(self, x: Tensor) -> List[Tensor]:
    return [x, x]
)"},
      {"list_argument", R"(
def forward(self, x: List[Tensor]) -> Tensor:
    return x[0]
)"},
      {"raises", R"(
def forward(self, x: Tensor) -> Tensor:
    assert bool(x.sum() < 100.0), "the sum is too large"
    return x
)"},
      {"no_forward", R"(
def backward(self, x: Tensor) -> Tensor:
    return x
)"},
      {"forks", R"(
def work(self, x: Tensor) -> Tensor:
    return torch.matmul(x, x)
def forward(self, x: Tensor) -> Tensor:
    a = fork(self.work, x)
    b = fork(self.work, x + 1)
    return torch.wait(a) + torch.wait(b)
)"},
      {"sequence", R"(
def forward(self, INPUT: Tensor, START: Tensor, total: Tensor) -> Tuple[Tensor, Tensor]:
    total = torch.where(START > 0, INPUT, total + INPUT)
    return total, total
)"},
      {"busy", R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.matmul(x, x)
    for i in range(20):
        y = torch.matmul(y, x)
    return y
)"},
  };
  return texts;
}

// Returns the input of the previous request, and keeps the current one.
Module Keeper() {
  Module module("Keeper");
  module.register_attribute("kept", c10::TensorType::get(), at::zeros({1}));
  module.define(R"(
def forward(self, x: Tensor) -> Tensor:
    before = self.kept
    self.kept = x
    return before
)");
  return module;
}

std::map<std::string, Module> AllModels() {
  torch::manual_seed(7);
  std::map<std::string, Module> models;
  models.emplace("mlp", Mlp());
  models.emplace("resnet18", ResNet().Build());
  models.emplace("transformer", Transformer(2, 64));
  models.emplace("lstm", Lstm());
  models.emplace("keeper", Keeper());
  models.emplace("encoder", Transformer(6, 256));  // after the others: they keep their weights
  for (const auto& [name, text] : Texts()) models.emplace(name, FromText(name, text));
  return models;
}

const std::map<std::string, at::ScalarType>& Types() {
  static const std::map<std::string, at::ScalarType> types = {
      {"FP32", at::kFloat}, {"FP64", at::kDouble}, {"INT64", at::kLong}, {"INT32", at::kInt}};
  return types;
}

std::string TypeName(at::ScalarType type) {
  for (const auto& [name, known] : Types()) {
    if (known == type) return name;
  }
  throw std::runtime_error("an output of a type that has no name here");
}

// in-0.FP32.2x64
at::Tensor ReadTensor(const std::filesystem::path& path) {
  const std::string name = path.filename();
  const size_t type_at = name.find('.') + 1;
  const size_t shape_at = name.find('.', type_at) + 1;
  std::vector<int64_t> shape;
  for (size_t at = shape_at; at < name.size();) {
    size_t used = 0;
    shape.push_back(std::stoll(name.substr(at), &used));
    at += used + 1;
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const at::ScalarType type = Types().at(name.substr(type_at, shape_at - type_at - 1));
  return torch::from_blob(bytes.data(), shape, type).clone();
}

void WriteTensor(const std::filesystem::path& folder, size_t index, const at::Tensor& tensor) {
  std::string name = "out-" + std::to_string(index) + "." + TypeName(tensor.scalar_type()) + ".";
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    name += (i > 0 ? "x" : "") + std::to_string(tensor.size(i));
  }
  const at::Tensor dense = tensor.contiguous();
  std::ofstream file(folder / name, std::ios::binary);
  file.write(static_cast<const char*>(dense.data_ptr()),
             static_cast<std::streamsize>(dense.nbytes()));
}

void Run(const std::string& model, const std::filesystem::path& folder) {
  const c10::InferenceMode inference;
  Module module = torch::jit::load(model);
  module.eval();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind("in-", 0) == 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<c10::IValue> inputs;
  for (const std::filesystem::path& file : files) inputs.push_back(ReadTensor(file));
  // PyTorch optimises during the first runs; later runs give the answers that a server gives.
  c10::IValue result;
  for (int i = 0; i < 3; ++i) result = module.forward(inputs);
  if (!result.isTuple()) {
    WriteTensor(folder, 0, result.toTensor());
    return;
  }
  const auto& elements = result.toTuple()->elements();
  for (size_t i = 0; i < elements.size(); ++i) WriteTensor(folder, i, elements[i].toTensor());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  try {
    at::set_num_threads(1);
    if (command == "write" && argc == 3) {
      for (const auto& [name, module] : AllModels()) {
        module.save(std::string(argv[2]) + "/" + name + ".pt");
      }
      return 0;
    }
    if (command == "run" && argc == 4) {
      Run(argv[2], argv[3]);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_models: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: %s write FOLDER | run MODEL.pt FOLDER\n", argv[0]);
  return 2;
}
