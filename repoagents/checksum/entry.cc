// SPDX-License-Identifier: Apache-2.0
// The C functions of libtritonrepoagent_checksum.so: a model is loaded only if its files have the
// sums that its configuration names. Parameters: "MD5:<path>" and "SHA256:<path>", relative to the
// model's directory, with the sum in hexadecimal.
#include <string>

#include "backends/sdk/boundary.h"
#include "backends/sdk/error.h"
#include "repoagents/checksum/digest.h"
#include "triton/core/tritonrepoagent.h"

using nereid_backend::Error;
using nereid_backend::Guard;

namespace {

Error CheckFiles(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  TRITONREPOAGENT_ArtifactType type;
  const char* location = nullptr;
  NB_RETURN_IF_ERROR(
      Error(TRITONREPOAGENT_ModelRepositoryLocation(agent, model, &type, &location)));
  if (type != TRITONREPOAGENT_ARTIFACT_FILESYSTEM) {
    return Error::Unsupported("the checksum agent reads local files only");
  }
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(Error(TRITONREPOAGENT_ModelParameterCount(agent, model, &count)));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    const char* value = nullptr;
    NB_RETURN_IF_ERROR(Error(TRITONREPOAGENT_ModelParameter(agent, model, i, &name, &value)));
    auto expected = nereid_checksum::ReadParameter(name, value);
    if (!expected.ok()) return expected.TakeError();
    NB_RETURN_IF_ERROR(nereid_checksum::Check(location, *expected));
  }
  return Error();
}

}  // namespace

extern "C" {

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ActionType action_type) {
  return Guard("ModelAction", [&]() -> Error {
    if (action_type != TRITONREPOAGENT_ACTION_LOAD) return Error();
    return CheckFiles(agent, model);
  });
}

}  // extern "C"
