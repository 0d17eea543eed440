import { Probe } from "../../../../src/gateway/doctor/probe.ts";
import { UpstreamError, type UpstreamRequest } from "../../../../src/gateway/upstream/upstream-call.ts";

/** Answers by URL: JSON with status 200, or an `Answer`. */
type Script = Record<string, unknown | Answer>;

export class Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;

  constructor(status: number, contentType: string, body: string) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
  }
}

export const root = (digits: string) => `0x${digits.repeat(64 / digits.length)}`;

/** A healthy beacon node with finalized epoch 3 and its head at slot 42, with 8 slots per epoch. */
export const healthyScript = {
  "/eth/v1/node/version": { data: { version: "Example/v1.0.0" } },
  "/eth/v1/beacon/genesis": {
    data: { genesis_time: "1000", genesis_validators_root: root("a"), genesis_fork_version: "0x00000001" },
  },
  "/eth/v1/config/spec": { data: { PRESET_BASE: "minimal", SECONDS_PER_SLOT: "2", SLOTS_PER_EPOCH: "8" } },
  "/eth/v1/node/syncing": {
    data: { head_slot: "42", sync_distance: "0", is_syncing: false, is_optimistic: false, el_offline: false },
  },
  "/eth/v1/beacon/headers/head": header(42, root("1")),
  "/eth/v1/beacon/states/head/finality_checkpoints": {
    data: {
      previous_justified: { epoch: "3", root: root("2") },
      current_justified: { epoch: "4", root: root("3") },
      finalized: { epoch: "3", root: root("2") },
    },
  },
  "/eth/v1/beacon/headers/finalized": header(24, root("2")),
  "/eth/v1/beacon/headers/24": header(24, root("2")),
  "/eth/v1/node/peer_count": { data: { connected: "7", connecting: "0", disconnected: "0", disconnecting: "0" } },
  "/eth/v1/node/peers?state=connected": { data: [{ peer_id: "16Uiu2HAm" }] },
} satisfies Script;

export function header(slot: number, blockRoot: string) {
  return { data: { root: blockRoot, canonical: true, header: { message: { slot: String(slot) } } } };
}

const NOT_FOUND = new Answer(404, "application/json", '{"code":404,"message":"not found"}');

/**
 * Creates a probe that answers from a script. Unknown URLs get `otherwise`. Without a script, connections are refused.
 * Answers in SSZ have the key "SSZ " and the URL.
 */
export function scriptedProbe(script: Script | undefined, upstream = "a", otherwise = NOT_FOUND): Probe {
  const request = async ({ url, headers }: UpstreamRequest) => {
    if (script === undefined)
      throw new UpstreamError(upstream, `${upstream} refused the connection.`, { mayHaveArrived: false });
    const scripted = script[headers.accept === "application/octet-stream" ? `SSZ ${url}` : url] ?? otherwise;
    const { status, contentType, body } =
      scripted instanceof Answer
        ? scripted
        : new Answer(200, "application/json; charset=utf-8", JSON.stringify(scripted));
    return { upstream, status, headers: { "content-type": contentType }, body: Buffer.from(body) };
  };
  return new Probe({ name: upstream, request }, 1000);
}
