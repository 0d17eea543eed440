import { setTimeout as delay } from "node:timers/promises";
import { ApiError, type routes } from "@lodestar/api";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Epoch, Slot } from "@lodestar/types";
import type { ValidatorKey } from "../json-rpc-validator/keys.ts";
import { attest } from "./client-attesting.ts";
import type { Connection } from "./client-connection.ts";
import { propose } from "./client-proposing.ts";
import { signHead } from "./client-sync-committee.ts";

const POLL_MS = 10;

interface Duties {
  proposers: routes.validator.ProposerDutyList;
  attesters: routes.validator.AttesterDutyList;
  sync: routes.validator.SyncDutyList;
}

/**
 * Does the duties of all validators (index i has the i-th key), one slot after the other, until the node has finalized
 * the epoch. Answers the last slot.
 */
export async function finalize(connection: Connection, keys: readonly ValidatorKey[], wanted: Epoch): Promise<Slot> {
  // Where all validators attest, an epoch is final two epochs after it began; one more is for attestations that come late.
  const lastSlot = (wanted + 3) * SLOTS_PER_EPOCH;
  let duties: Duties | undefined;
  for (let slot = 1; slot <= lastSlot; slot++) {
    await untilSlot(connection, slot);
    if (!duties || slot % SLOTS_PER_EPOCH === 0) duties = await dutiesAt(connection, keys, slot);
    await doDuties(connection, keys, slot, duties);
    const { finalized } = (
      await connection.clientAt(slot).beacon.getStateFinalityCheckpoints({ stateId: "head" })
    ).value();
    if (finalized.epoch >= wanted) return slot;
  }
  throw new Error(`The duties were done up to slot ${lastSlot}, and epoch ${wanted} is still not final.`);
}

/** The node has a state of every slot that has begun; there is no other way to ask for its time. */
async function hasBegun({ clientAt }: Connection, slot: Slot): Promise<boolean> {
  const response = await clientAt(slot).beacon.getStateFork({ stateId: slot });
  if (response.status === 404) return false;
  response.assertOk();
  return true;
}

async function untilSlot(connection: Connection, slot: Slot): Promise<void> {
  while (!(await hasBegun(connection, slot))) await delay(POLL_MS);
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
  if (!proposer) throw new Error(`Nobody that is known here proposes at slot ${slot}.`);
  await propose(connection, slot, proposer);
  await attest(connection, keys, slot, attesters.filter(isNow));
  try {
    await signHead(connection, keys, slot, sync);
  } catch (error) {
    // These are for the slot at hand only, and the node's time does not wait for us.
    if (!(error instanceof ApiError && error.status === 400 && (await hasBegun(connection, slot + 1)))) throw error;
  }
}
