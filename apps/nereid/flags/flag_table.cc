// SPDX-License-Identifier: Apache-2.0
#include "flags/flag_table.h"

namespace nereid {

std::vector<FlagGroup> MakeFlagTable(Settings* settings) {
  return {ServerFlags(settings),   LogFlags(settings),       RepositoryFlags(settings),
          HttpFlags(settings),     GrpcFlags(settings),      TfsFlags(settings),
          AccessFlags(settings),   ConsoleFlags(settings),   MetricsFlags(settings),
          RecordFlags(settings),   BackendFlags(settings),   CacheFlags(settings),
          InstanceFlags(settings), DeviceFlags(settings),    FlagsWithoutEffect(settings),
          TraceFlags(settings),    SagemakerFlags(settings), VertexAiFlags(settings)};
}

}  // namespace nereid
