import { collectDefaultMetrics, type Registry } from "prom-client";
import { VERSION } from "../runtime/version.ts";
import type { Instruments } from "./instruments.ts";

/** Metrics that only sum up other metrics by type, and gauges named like counters. */
const OMITTED = ["nodejs_active_resources_total", "nodejs_active_handles_total", "nodejs_active_requests_total"];

/** Adds the version and the process metrics. */
export function addProcessMetrics(instruments: Instruments, registry: Registry): void {
  instruments.gauges("fanal_build_info", "Always 1; the label is the version", ["version"], () => [
    [{ version: VERSION }, 1],
  ]);
  collectDefaultMetrics({ register: registry });
  for (const name of OMITTED) registry.removeSingleMetric(name);
}
