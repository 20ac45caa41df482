#include "backends/python/model_control.h"

#include <algorithm>
#include <charconv>

#include "backends/python/parameters.h"
#include "backends/sdk/boundary.h"
#include "triton/core/tritonserver.h"

namespace nereid_backend {
namespace {

Error LoadModel(TRITONSERVER_Server* server, const std::string& model, const std::string& config,
                const ModelControl::Files& files) {
  std::vector<OwnedParameter> owned;
  if (!config.empty()) {
    owned.emplace_back(
        TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING, config.c_str()));
  }
  for (const auto& [name, content] : files) {
    owned.emplace_back(
        TRITONSERVER_ParameterBytesNew(name.c_str(), content.data(), content.size()));
  }
  std::vector<const TRITONSERVER_Parameter*> parameters;
  for (const OwnedParameter& parameter : owned) parameters.push_back(parameter.get());
  return Error(TRITONSERVER_ServerLoadModelWithParameters(server, model.c_str(), parameters.data(),
                                                          parameters.size()));
}

Result<int64_t> ReadVersion(const std::string& text) {
  if (text.empty()) return int64_t{-1};
  int64_t version = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, version);
  const std::string what =
      StrCat("failed to get model version from specified version string '", text, "'");
  if (error != std::errc() || stopped != end) {
    return Error::InvalidArg(
        StrCat(what, " (details: stol), version should be an integral value > 0"));
  }
  if (version < 0) {
    return Error::InvalidArg(StrCat(what, ", version should be an integral value > 0"));
  }
  return version;
}

}  // namespace

ModelControl::~ModelControl() {
  for (Job& job : jobs_) job.thread.join();
}

void ModelControl::Start(std::function<Error()> work, Done done) {
  const std::lock_guard lock(mu_);
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (it->over) it->thread.join();
    it = it->over ? jobs_.erase(it) : std::next(it);
  }
  Job& job = jobs_.emplace_back();
  job.thread = std::thread([this, &job, work = std::move(work), done = std::move(done)] {
    done(Guarded("model control", work));
    const std::lock_guard over(mu_);
    job.over = true;
  });
}

bool ModelControl::Idle() {
  const std::lock_guard lock(mu_);
  return std::all_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.over; });
}

void ModelControl::Load(std::string model, std::string config, Files files, Done done) {
  Start([server = server_, model = std::move(model), config = std::move(config),
         files = std::move(files)] { return LoadModel(server, model, config, files); },
        std::move(done));
}

void ModelControl::Unload(std::string model, bool dependents, Done done) {
  Start(
      [server = server_, model = std::move(model), dependents] {
        return Error(dependents ? TRITONSERVER_ServerUnloadModelAndDependents(server, model.c_str())
                                : TRITONSERVER_ServerUnloadModel(server, model.c_str()));
      },
      std::move(done));
}

Result<bool> ModelControl::IsReady(const std::string& model, const std::string& version) const {
  NB_ASSIGN_OR_RETURN(const int64_t number, ReadVersion(version));
  bool ready = false;
  // A model that is not known is not ready, as in Triton.
  const Error unknown(TRITONSERVER_ServerModelIsReady(server_, model.c_str(), number, &ready));
  return unknown.ok() && ready;
}

}  // namespace nereid_backend
