import { SYSTEM_TIMERS, type Timers } from "../../../../src/async/timers.ts";
import { READ_TIMEOUT_MILLIS } from "../../../../src/gateway/cache/redis-connection.ts";

/** Timers of a cache whose reads may take longer, and which is purged less often. A busy machine exceeds the timeout. */
export function patientTimers(factor: () => number = () => 50): Timers {
  return {
    ...SYSTEM_TIMERS,
    sleep: (ms, signal) => SYSTEM_TIMERS.sleep(ms === READ_TIMEOUT_MILLIS ? ms * factor() : ms, signal),
    every: (ms, run) => SYSTEM_TIMERS.every(ms * factor(), run),
  };
}
