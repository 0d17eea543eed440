import { test } from "vitest";
import { ProgramHere } from "../support/program-here.ts";
import { removableDirectory } from "../support/removable-directory.ts";
import { interopKeys } from "./keys.ts";
import { runValidator } from "./validator.ts";

const VALIDATORS = 16;
const SLOTS_PER_EPOCH = 8;
/** Every slot takes half a second: the time of the node does not wait for a client. */
const SPEED = "4";

interface ChainHead {
  head_slot: string;
  finalized_slot: string;
}

// Side by side, since each of them mostly waits for the next slot.
test.concurrent.for(["phase0", "altair", "fulu"])(
  "a validator that knows only JSON-RPC finalizes a chain of %s",
  async (fork, { expect, onTestFinished }) => {
    const { path: directory, remove } = removableDirectory();
    onTestFinished(remove);
    const program = await ProgramHere.dev(
      [
        ...["--data-dir", directory, "--fork", fork, "--validators", String(VALIDATORS)],
        ...["--dev-validators", "none", "--warmup-epochs", "0", "--speed", SPEED],
      ],
      { whenDone: onTestFinished },
    );
    const stop = new AbortController();
    const working = runValidator(program.url, interopKeys(VALIDATORS), stop.signal);

    const finalizing = program.callUntil<ChainHead>(
      "getChainHead",
      ({ finalized_slot }) => Number(finalized_slot) >= 2 * SLOTS_PER_EPOCH,
    );
    // A validator that fails ends the test at once.
    const head = await Promise.race([finalizing, working.then(() => finalizing)]);
    stop.abort();
    const { proposed } = await working;

    // Nobody else proposes, so every slot up to the head had its block from here.
    const slots = Number(head.head_slot);
    expect(proposed).toBeGreaterThanOrEqual(slots);
    let synced = 0;
    for (let slot = 1; slot <= slots; slot++) {
      const { message } = await program.call("get_v1_beacon_blocks_blockId", [slot]);
      expect(Buffer.from(message.body.graffiti.slice(2), "hex").toString()).toMatch(/^JSON-RPC alone\0+$/);
      if (BigInt(message.body.sync_aggregate?.sync_committee_bits ?? "0x0") !== 0n) synced++;
    }
    // Messages that came too late for their slot count for nothing, but not all of them can have come too late.
    if (fork !== "phase0") expect(synced).toBeGreaterThan(0);
    expect(program.errors).toEqual([]);
  },
);
