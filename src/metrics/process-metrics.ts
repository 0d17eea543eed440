import { collectDefaultMetrics, type Registry } from "prom-client";
import { VERSION } from "../runtime/version.ts";
import type { Instruments } from "./instruments.ts";

/** Sums of others that tell the same by type, and gauges whose names end as those of counters must. */
const LEFT_OUT = ["nodejs_active_resources_total", "nodejs_active_handles_total", "nodejs_active_requests_total"];

/** The version of the program, and what the process takes of the machine. */
export function addProcessMetrics(instruments: Instruments, registry: Registry): void {
  instruments.gauges("fanal_build_info", "1, for the version of the program", ["version"], () => [
    [{ version: VERSION }, 1],
  ]);
  collectDefaultMetrics({ register: registry });
  for (const name of LEFT_OUT) registry.removeSingleMetric(name);
}
