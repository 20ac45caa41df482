// SPDX-License-Identifier: Apache-2.0
#include "observe/record/flight_record.h"

namespace nereid {

const char* NameOf(FlightOutcome outcome) {
  switch (outcome) {
    case FlightOutcome::kOk:
      return "ok";
    case FlightOutcome::kError:
      return "error";
    case FlightOutcome::kCancelled:
      return "cancelled";
    case FlightOutcome::kTimedOut:
      return "timed_out";
    case FlightOutcome::kRefused:
      return "refused";
    case FlightOutcome::kCacheHit:
      return "cache_hit";
  }
  return "";
}

}  // namespace nereid
