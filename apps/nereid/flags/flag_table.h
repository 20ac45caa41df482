// SPDX-License-Identifier: Apache-2.0
// The one table of command line options: the source of parsing, --help and the options page. Each
// group of options has its own file, x_flags.cc; a new option is a row there.
#ifndef NEREID_APPS_NEREID_FLAGS_FLAG_TABLE_H_
#define NEREID_APPS_NEREID_FLAGS_FLAG_TABLE_H_

#include <vector>

#include "options/flag.h"
#include "settings.h"

namespace nereid {

// All options; their setters write into `settings`, which must outlive the table.
std::vector<FlagGroup> MakeFlagTable(Settings* settings);

// Those of them that are about ports, and not about the server behind them. frontend_flags.cc
std::vector<FlagGroup> MakeFrontendTable(Settings* settings);

// The groups of the table, in order.
FlagGroup ServerFlags(Settings* settings);
FlagGroup LogFlags(Settings* settings);
FlagGroup RepositoryFlags(Settings* settings);
FlagGroup HttpFlags(Settings* settings);
FlagGroup GrpcFlags(Settings* settings);
FlagGroup AccessFlags(Settings* settings);
FlagGroup TfsFlags(Settings* settings);
FlagGroup ConsoleFlags(Settings* settings);
FlagGroup MetricsFlags(Settings* settings);
FlagGroup RecordFlags(Settings* settings);
FlagGroup BackendFlags(Settings* settings);
FlagGroup CacheFlags(Settings* settings);
FlagGroup InstanceFlags(Settings* settings);
FlagGroup DeviceFlags(Settings* settings);
FlagGroup FlagsWithoutEffect(Settings* settings);
FlagGroup TraceFlags(Settings* settings);
FlagGroup SagemakerFlags(Settings* settings);  // cloud_flags.cc
FlagGroup VertexAiFlags(Settings* settings);   // cloud_flags.cc

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_FLAG_TABLE_H_
