// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

absl::Status SetSample(absl::string_view value, double* sample) {
  double share = 0;
  if (!absl::SimpleAtod(value, &share) || !(share > 0 && share <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "invalid argument for --record-sample: '", value,
        "' (use the share of the requests that is recorded: greater than 0, at most 1)"));
  }
  *sample = share;
  return absl::OkStatus();
}

}  // namespace

FlagGroup RecordFlags(Settings* s) {
  return {
      "Recording",
      {OfFile(StringFlag("record", &s->server.record_file,
                         "Write requests and executions of all models to this file, for "
                         "`nereid replay`: times, sizes and ids.")),
       IntegerFlag("record-max-bytes", &s->server.record_max_bytes, {4096, int64_t{1} << 50},
                   "The file of --record grows no further."),
       {"record-sample", "<number>", "1",
        "The share of the requests that is recorded. Batches are only reproduced with 1.",
        [s](absl::string_view value) { return SetSample(value, &s->server.record_sample); }},
       BooleanFlag("record-tensors", &s->server.record_tensors,
                   "--record writes the inputs of requests, too. They may be confidential, and "
                   "are copied in memory."),
       StringSetFlag("record-redact", &s->server.record_secrets,
                     "The name of an input, of any model, of which --record-tensors writes type "
                     "and shape alone. May be given several times.")}};
}

}  // namespace nereid
