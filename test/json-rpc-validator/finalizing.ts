import { expect } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { interopKeys } from "./keys.ts";
import { runValidator } from "./validator.ts";

const VALIDATORS = 16;
const SLOTS_PER_EPOCH = 8;
/** The first finalized epoch after genesis. */
const FINAL_EPOCH = 2;

/** Finalizes a chain with the JSON-RPC validator. A slot starts when the duties of the previous one are done. */
export async function finalizeByJsonRpc(fork: string): Promise<void> {
  const program = await ProgramHere.dev([
    ...["--data-dir", tempDirectory(), "--fork", fork, "--validators", String(VALIDATORS)],
    ...["--dev-validators", "none", "--warmup-epochs", "0", "--no-auto"],
  ]);
  const lastSlot = (FINAL_EPOCH + 2) * SLOTS_PER_EPOCH;
  const { proposed } = await runValidator(program.url, interopKeys(VALIDATORS), async (slot) => {
    if (slot > lastSlot) return false;
    await program.call("dev_skip");
    return true;
  });
  expect(proposed).toBe(lastSlot);
  expect(await program.call("getChainHead")).toMatchObject({
    head_slot: String(lastSlot),
    finalized_slot: String(FINAL_EPOCH * SLOTS_PER_EPOCH),
  });

  for (let slot = 1; slot <= lastSlot; slot++) {
    const { message } = await program.call("get_v1_beacon_blocks_blockId", [slot]);
    expect(Buffer.from(message.body.graffiti.slice(2), "hex").toString()).toMatch(/^JSON-RPC alone\0+$/);
    expect(message.body.attestations.length, `slot ${slot}`).toBeGreaterThan(slot === 1 ? -1 : 0);
    // All sync committee members have signed the parent block, starting with genesis.
    if (fork !== "phase0" && slot > 1) {
      expect(message.body.sync_aggregate.sync_committee_bits, `slot ${slot}`).toMatch(/^0xf+$/);
    }
  }
  expect(program.errors).toEqual([]);
}
