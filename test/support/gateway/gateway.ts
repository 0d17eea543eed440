import { onTestFinished } from "vitest";
import { Gateway } from "../../../src/gateway/gateway.ts";
import type { ChainSpec } from "../../../src/gateway/network/chain-spec.ts";
import { DEFAULT_GATEWAY_SETTINGS, type GatewaySettings } from "../../../src/gateway/settings.ts";
import { createRecordingLogger, type LogRecord } from "../log/recording-logger.ts";
import { GENESIS_ROOT, ScriptedUpstream } from "./upstream/scripted-upstream.ts";

const SECONDS_PER_SLOT = 12;
const ANYWHERE = { host: "127.0.0.1", port: 0 };

/** Starts an upstream whose head is at the current slot. */
export async function currentUpstream(name: string): Promise<ScriptedUpstream> {
  const upstream = await new ScriptedUpstream(name).start();
  onTestFinished(() => upstream.stop());
  upstream.genesisTime = Math.floor(Date.now() / 1000) - upstream.headSlot * SECONDS_PER_SLOT;
  return upstream;
}

/** Opens a gateway with both servers, in front of scripted upstreams with the same genesis. */
export async function openGateway(
  upstreams: readonly ScriptedUpstream[],
  changes: Partial<GatewaySettings> = {},
  accessLog?: (lines: string) => void,
) {
  const genesisTime = upstreams[0]!.genesisTime;
  for (const upstream of upstreams) upstream.genesisTime = genesisTime;
  const chainSpec: ChainSpec = {
    presetBase: "minimal",
    genesisValidatorsRoot: GENESIS_ROOT,
    genesisTime,
    secondsPerSlot: SECONDS_PER_SLOT,
    slotsPerEpoch: 8,
    forks: [{ name: "phase0", epoch: 0 }],
  };
  const settings: GatewaySettings = {
    ...DEFAULT_GATEWAY_SETTINGS,
    // The scripted answers name only the upstream.
    validation: false,
    upstreams: upstreams.map(({ options }) => options),
    ...changes,
  };
  const log: LogRecord[] = [];
  const gateway = await Gateway.open({
    settings,
    chainSpec,
    servers: { limits: {}, jsonRpc: ANYWHERE, rest: ANYWHERE },
    metrics: ANYWHERE,
    writeAccessLog: accessLog,
    logger: createRecordingLogger(log),
  });
  onTestFinished(() => gateway.close());
  const request = (path: string, init?: RequestInit) => fetch(`${gateway.restUrl}${path}`, init);
  const call = async (method: string, { path = "", headers = {} } = {}) => {
    const response = await fetch(`${gateway.jsonRpcUrl}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
    });
    return { status: response.status, body: (await response.json()) as { result?: unknown; error?: unknown } };
  };
  const metrics = async () => (await fetch(`${gateway.metricsUrl}/metrics`)).text();
  return { gateway, settings, log, request, call, metrics };
}
