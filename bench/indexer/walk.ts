import { Agent, request } from "node:http";

/** Number of requests and total time by method. */
export type Tally = Map<string, { requests: number; milliseconds: number }>;

interface WalkedChain {
  url: string;
  slots: number;
  slotsPerEpoch: number;
}

const BLOCK = "get_v2_beacon_blocks_blockId";
const ROOT = "get_v1_beacon_states_stateId_root";
const COMMITTEES = "get_v1_beacon_states_stateId_committees";
const VALIDATORS = "get_v1_beacon_states_stateId_validators";
const BLOCK_REWARDS = "get_v1_beacon_rewards_blocks_blockId";
const ATTESTATION_REWARDS = "post_v1_beacon_rewards_attestations_epoch";

/** Requests all data of every slot, one request at a time. */
export async function walk(chain: WalkedChain, direction: "up" | "down"): Promise<Tally> {
  const { slots, slotsPerEpoch } = chain;
  const tally: Tally = new Map();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (method: string, params: readonly unknown[]) => {
    const start = performance.now();
    await call(agent, chain.url, method, params);
    const { requests, milliseconds } = tally.get(method) ?? { requests: 0, milliseconds: 0 };
    tally.set(method, { requests: requests + 1, milliseconds: milliseconds + performance.now() - start });
  };
  for (let step = 1; step < slots; step++) {
    const slot = direction === "up" ? step : slots - step;
    const id = String(slot);
    for (const method of [BLOCK, ROOT, COMMITTEES, VALIDATORS, BLOCK_REWARDS]) await ask(method, [id]);
    const epoch = Math.floor(slot / slotsPerEpoch);
    // Attestation rewards of an epoch are known after the next epoch.
    if (slot % slotsPerEpoch === slotsPerEpoch - 1 && epoch > 0)
      await ask(ATTESTATION_REWARDS, [String(epoch - 1), []]);
  }
  agent.destroy();
  return tally;
}

async function call(agent: Agent, url: string, method: string, params: readonly unknown[]): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request(url, { method: "POST", agent, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () => resolve(String(Buffer.concat(chunks))));
    response.on("error", reject);
  })
    .on("error", reject)
    .end(body);
  const text = await promise;
  if (!text.includes('"result":')) throw new Error(`The JSON-RPC server answered ${method} with ${text}.`);
}
