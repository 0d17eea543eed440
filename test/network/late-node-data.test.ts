import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, test } from "vitest";
import { type DataSidecar, serializeSidecar } from "../../src/data/sidecar.ts";
import { openDevChain } from "../support/dev-chain.ts";
import { sharedKzg as kzg } from "../support/shared-kzg.ts";
import { GENESIS_TIME, SECONDS_PER_SLOT, TestNetwork } from "./support/test-network.ts";

const VALIDATORS = 16;
const FULU_EPOCH = 1;
const SLOTS = SLOTS_PER_EPOCH + 3;
const FORKS = [
  { fork: "electra", epoch: 0 },
  { fork: "fulu", epoch: FULU_EPOCH },
] as const;

/** A chain with none, one or two blobs a block. */
async function makeHistory() {
  const { devChain } = await openDevChain({
    speed: 0,
    kzg,
    devBlobs: { least: 0, most: 2 },
    forks: FORKS,
    validators: VALIDATORS,
    slotSeconds: SECONDS_PER_SLOT,
    genesisTime: GENESIS_TIME,
  });
  const { chain, control } = devChain;
  await control.time.advance({ slots: SLOTS });
  const history = [];
  for (let slot = 1; slot <= chain.head.slot; slot++) {
    const block = await chain.blocks.canonicalAtSlot(slot);
    if (!block) continue;
    const { root, signed } = block;
    history.push({ slot, root, signed, sidecars: await chain.data.sidecars({ slot, root }) });
  }
  return history;
}

const bytesOf = (sidecars: readonly DataSidecar[]) =>
  sidecars.map((sidecar) => Buffer.from(serializeSidecar(sidecar)).toString("base64url").slice(0, 3000));

test("a node that starts late syncs blobs of electra and columns of fulu, and keeps its part of them", async () => {
  const history = await makeHistory();
  expect(history.some(({ slot, sidecars }) => slot < FULU_EPOCH * SLOTS_PER_EPOCH && sidecars.length > 0)).toBe(true);
  const network = new TestNetwork({ validators: VALIDATORS, forks: FORKS });
  const first = await network.add([], [], { supernode: true });
  await network.clock.advanceTo(SLOTS);
  for (const { slot, root, sidecars } of history) first.chain.data.pool.add({ slot, root }, sidecars);
  await first.chain.importSegment(history.map(({ signed }) => signed));

  const late = await network.add([], [first]);
  await late.networking.sync.whenSynced();

  expect(late.chain.head).toEqual(first.chain.head);
  const { sampled } = late.chain.data.custody;
  expect(sampled).toHaveLength(8);
  for (const { slot, root, sidecars } of history) {
    const isFulu = slot >= FULU_EPOCH * SLOTS_PER_EPOCH;
    const kept = isFulu ? sidecars.filter(({ index }) => sampled.includes(index)) : sidecars;
    expect(bytesOf(await late.chain.data.sidecars({ slot, root }))).toEqual(bytesOf(kept));
  }
});
