import { setTimeout as delay } from "node:timers/promises";
import { type AttesterDuty, attest } from "./attesting.ts";
import { ChainFacts } from "./chain-facts.ts";
import type { ValidatorKey } from "./keys.ts";
import { propose } from "./proposing.ts";
import { RpcClient, RpcError } from "./rpc-client.ts";
import { type SyncDuty, syncCommittee } from "./sync-committee.ts";

const NOT_FOUND = -32001;
const REJECTED = -32003;
const POLL_MS = 10;

interface Duties {
  epoch: number;
  proposers: { validator_index: string; slot: string }[];
  attesters: AttesterDuty[];
  sync: SyncDuty[];
}

interface WorkDone {
  proposed: number;
}

/**
 * A validator client that knows nothing but the address of a node and its own keys. Index i has the i-th of them. It
 * does the duties of one slot after the other until it is told to stop.
 */
export async function runValidator(url: string, keys: readonly ValidatorKey[], signal: AbortSignal): Promise<WorkDone> {
  const rpc = new RpcClient(url);
  const facts = await ChainFacts.ask(rpc);
  const done: WorkDone = { proposed: 0 };
  let duties: Duties | undefined;
  for (let slot = 1; ; slot++) {
    if (!(await untilSlot(rpc, slot, signal))) return done;
    const epoch = facts.epochOf(slot);
    if (duties?.epoch !== epoch) duties = await dutiesOf(rpc, facts, keys, epoch, slot);
    await doDuties(rpc, facts, keys, slot, duties, done);
  }
}

/** The node has a state of every slot that has begun; there is no other way to ask for its time. */
async function untilSlot(rpc: RpcClient, slot: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await rpc.call("get_v1_beacon_states_fork", [String(slot)]);
      return true;
    } catch (error) {
      if (!(error instanceof RpcError && error.code === NOT_FOUND)) throw error;
      await delay(POLL_MS);
    }
  }
  return false;
}

async function dutiesOf(
  rpc: RpcClient,
  facts: ChainFacts,
  keys: readonly ValidatorKey[],
  epoch: number,
  slot: number,
): Promise<Duties> {
  const pubkeys = keys.map(({ pubkey }) => pubkey);
  const indices = keys.map(({ index }) => String(index));
  return {
    epoch,
    proposers: await rpc.call("get_v1_validator_duties_proposer", [String(epoch)]),
    attesters: await rpc.call("get_v1_validator_duties_attester", [String(epoch), pubkeys]),
    sync: facts.has("altair", slot)
      ? await rpc.call("post_v1_validator_duties_sync_epoch", [String(epoch), indices])
      : [],
  };
}

async function doDuties(
  rpc: RpcClient,
  facts: ChainFacts,
  keys: readonly ValidatorKey[],
  slot: number,
  { proposers, attesters, sync }: Duties,
  done: WorkDone,
): Promise<void> {
  const isNow = (duty: { slot: string }) => Number(duty.slot) === slot;
  const proposer = keys[Number(proposers.find(isNow)?.validator_index)];
  if (proposer) {
    const status = await propose(rpc, facts, slot, proposer);
    if (status !== 200) throw new Error(`The block of slot ${slot} was answered with ${status}.`);
    done.proposed++;
  }
  await attest(rpc, facts, keys, slot, attesters.filter(isNow));
  try {
    await syncCommittee(rpc, facts, keys, slot, sync);
  } catch (error) {
    // These are for the slot at hand only, and the node's time does not wait for us.
    if (!(error instanceof RpcError && error.code === REJECTED)) throw error;
  }
}
