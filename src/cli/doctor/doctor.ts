import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { inspectAll } from "../../gateway/doctor/inspection.ts";
import { Probe } from "../../gateway/doctor/probe.ts";
import { isHealthy } from "../../gateway/doctor/report.ts";
import { UpstreamClient } from "../../gateway/upstream/client/upstream-client.ts";
import { printableJson } from "../call/printable.ts";
import { EXIT_CODES } from "../exit.ts";
import { type FlagSources, resolveFlags } from "../flags/resolve-flags.ts";
import type { Terminal } from "../terminal.ts";
import { readTargets } from "./targets.ts";

interface DoctorContext {
  environment: Record<string, string | undefined>;
  terminal: Terminal;
}

/** Runs `fanal doctor`: examines beacon nodes, prints a report and returns the exit code. */
export async function runDoctor(
  args: readonly string[],
  sources: FlagSources,
  { environment, terminal }: DoctorContext,
): Promise<number> {
  const { tokenFile, timeout, all, json } = resolveFlags("doctor", sources);
  const { workingDirectory } = sources;
  const targets = readTargets(args, { tokenFile, workingDirectory });
  const clients = targets.map((target) => new UpstreamClient(target, { timers: SYSTEM_TIMERS }));
  try {
    const probes = clients.map((client) => new Probe(client, timeout * 1000));
    const inspections = await inspectAll(probes);
    const upstreams = targets.map(({ url }, index) => ({
      url,
      probe: probes[index]!,
      inspection: inspections[index]!,
    }));
    const chainSpecs = inspections.flatMap((inspection) => inspection.chainSpec ?? []);
    environment.LODESTAR_PRESET = chainSpecs[0]?.presetBase ?? "mainnet";
    // Lazy import, because the method definitions read the preset once, on import.
    const { diagnose } = await import("../../gateway/doctor/diagnosis.ts");
    const report = await diagnose(upstreams, { withStates: all });
    const { formatReport } = await import("./format-report.ts");
    const isAllHealthy = isHealthy(report);
    const asJson = () => `${printableJson(JSON.stringify({ isWell: isAllHealthy, ...report }, null, 2))}\n`;
    await terminal.write(json ? asJson() : formatReport(report));
    return isAllHealthy ? EXIT_CODES.ok : EXIT_CODES.internal;
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}
