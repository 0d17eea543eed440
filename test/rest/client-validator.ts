import type { routes } from "@lodestar/api";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import type { ValidatorKey } from "../json-rpc-validator/keys.ts";
import { attest } from "./client-attesting.ts";
import type { Connection } from "./client-connection.ts";
import { propose } from "./client-proposing.ts";
import { signHead } from "./client-sync-committee.ts";

interface Duties {
  proposers: routes.validator.ProposerDutyList;
  attesters: routes.validator.AttesterDutyList;
  sync: routes.validator.SyncDutyList;
}

/**
 * Does the duties of all validators up to a slot; validator i has the i-th key. `beginSlot` starts a slot after the
 * duties of the previous one.
 */
export async function doDutiesUpTo(
  lastSlot: Slot,
  {
    connection,
    keys,
    beginSlot,
  }: { connection: Connection; keys: readonly ValidatorKey[]; beginSlot(): Promise<void> },
): Promise<void> {
  let duties: Duties | undefined;
  for (let slot = 1; slot <= lastSlot; slot++) {
    await beginSlot();
    if (!duties || slot % SLOTS_PER_EPOCH === 0) duties = await dutiesAt(connection, keys, slot);
    await doDuties(connection, keys, slot, duties);
  }
}

async function dutiesAt({ clientAt }: Connection, keys: readonly ValidatorKey[], slot: Slot): Promise<Duties> {
  const { validator } = clientAt(slot);
  const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
  const indices = keys.map(({ index }) => index);
  return {
    proposers: (await validator.getProposerDuties({ epoch })).value(),
    attesters: (await validator.getAttesterDuties({ epoch, indices })).value(),
    sync: (await validator.getSyncCommitteeDuties({ epoch, indices })).value(),
  };
}

async function doDuties(
  connection: Connection,
  keys: readonly ValidatorKey[],
  slot: Slot,
  { proposers, attesters, sync }: Duties,
): Promise<void> {
  const isNow = (duty: { slot: Slot }) => duty.slot === slot;
  const proposer = keys[proposers.find(isNow)?.validatorIndex ?? -1];
  if (!proposer) throw new Error(`No known validator proposes at slot ${slot}.`);
  await propose(connection, slot, proposer);
  await attest(connection, keys, slot, attesters.filter(isNow));
  await signHead(connection, keys, slot, sync);
}
