import { type AttesterDuty, attest } from "./attesting.ts";
import { ChainFacts } from "./chain-facts.ts";
import type { ValidatorKey } from "./keys.ts";
import { propose } from "./proposing.ts";
import { RpcClient } from "./rpc-client.ts";
import { type SyncDuty, syncCommittee } from "./sync-committee.ts";

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
 * A validator client that uses only the JSON-RPC URL of a node; validator i has the i-th key. Does the duties slot by
 * slot. `beginSlot` resolves when a slot starts, with false to stop.
 */
export async function runValidator(
  url: string,
  keys: readonly ValidatorKey[],
  beginSlot: (slot: number) => Promise<boolean>,
): Promise<WorkDone> {
  const rpc = new RpcClient(url);
  const facts = await ChainFacts.ask(rpc);
  const done: WorkDone = { proposed: 0 };
  let duties: Duties | undefined;
  for (let slot = 1; await beginSlot(slot); slot++) {
    const epoch = facts.epochOf(slot);
    if (duties?.epoch !== epoch) duties = await dutiesOf(rpc, facts, keys, epoch, slot);
    await doDuties(rpc, facts, keys, slot, duties, done);
  }
  return done;
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
  await syncCommittee(rpc, facts, keys, slot, sync);
}
