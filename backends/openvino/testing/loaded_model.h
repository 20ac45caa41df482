// SPDX-License-Identifier: Apache-2.0
// A model of the OpenVINO backend in a fake server, for tests of the classes that run it.
#ifndef NEREID_BACKENDS_OPENVINO_TESTING_LOADED_MODEL_H_
#define NEREID_BACKENDS_OPENVINO_TESTING_LOADED_MODEL_H_

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/openvino/instance.h"
#include "backends/openvino/testing/models.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend::testing {

// Environment, model and one instance. `config` is the text of the configuration without the name.
struct LoadedModel {
  LoadedModel(const std::string& name, const std::shared_ptr<ov::Model>& network,
              const std::string& config) {
    environment = std::move(*Environment::Create(Json()));
    backend.state = environment.get();
    handle.backend = &backend;
    handle.name = name;
    handle.directory = SaveModel(name, network);
    handle.config = "{\"name\":\"" + name + "\"," + config + "}";
    Result<std::unique_ptr<OpenVinoModel>> loaded = OpenVinoModel::Create(&handle);
    if (!loaded.ok()) {
      error = loaded.error().message();
      return;
    }
    model = std::move(*loaded);
    instance = std::move(*OpenVinoInstance::Create(&instance_handle, *model));
  }
  // Executes one batch; a pool may still be at work when it returns.
  void Execute(std::vector<TRITONBACKEND_Request*> requests) {
    EXPECT_EQ(instance->Execute(requests.data(), static_cast<uint32_t>(requests.size())), nullptr);
  }

  std::unique_ptr<Environment> environment;
  TRITONBACKEND_Backend backend;
  TRITONBACKEND_Model handle;
  TRITONBACKEND_ModelInstance instance_handle;
  std::unique_ptr<OpenVinoModel> model;
  std::unique_ptr<OpenVinoInstance> instance;  // waits for its runs when destroyed
  std::string error;                           // of the load
};

// INT32 inputs and outputs X and Y of one number per row.
inline std::string Numbers(int64_t max_batch_size, const std::string& more = "") {
  return "\"max_batch_size\":" + std::to_string(max_batch_size) +
         R"(,"input":[{"name":"X","data_type":"TYPE_INT32","dims":[1]}],)"
         R"("output":[{"name":"Y","data_type":"TYPE_INT32","dims":[1]}])" +
         more;
}

inline TRITONBACKEND_Request NumbersRequest(const std::vector<int32_t>& rows) {
  TRITONBACKEND_Request request;
  request.inputs.push_back(
      MakeInput("X", TRITONSERVER_TYPE_INT32, {static_cast<int64_t>(rows.size()), 1},
                std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * 4)));
  request.wanted_outputs = {"Y"};
  return request;
}

// The numbers in a response, or the text of its error.
inline std::string AnswerOf(const TRITONBACKEND_Request& request) {
  if (request.responses.size() != 1) return std::to_string(request.responses.size()) + " answers";
  const SeenResponse& response = request.responses[0];
  if (!response.errors.empty()) return response.errors[0].message;
  const std::string& data = response.outputs.at(0).data;
  std::vector<int32_t> values(data.size() / 4);
  if (!data.empty()) std::memcpy(values.data(), data.data(), data.size());
  std::string text;
  for (const int32_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

}  // namespace nereid_backend::testing

#endif  // NEREID_BACKENDS_OPENVINO_TESTING_LOADED_MODEL_H_
