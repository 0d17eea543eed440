import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { SignedBeaconBlock } from "@lodestar/types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createBlsVerifier } from "../../src/bls/verifier.ts";
import { hasEnvelope } from "../../src/chain/payloads/new-payload.ts";
import { DEV_FORKS, type DevFork, type ScheduledFork } from "../../src/dev/forks.ts";
import { EVM_WITHDRAWALS } from "../../src/dev/genesis-parameters.ts";
import { devAccountKeys } from "../../src/evm/accounts.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { disableSigningThreads, enableSigningThreads } from "../support/bls/signing-threads.ts";
import { type OpenedDevChain, openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { sharedKzg } from "../support/data/kzg/shared-kzg.ts";

const SLOTS = 1040;
/** Every so many slots a transaction is automined. */
const TRANSACTION_INTERVAL = 4;
const OPTIONS: Partial<DevNodeOptions> = {
  validators: 32,
  genesisTime: 1_700_000_000,
  chainTuning: { kzg: sharedKzg, createVerifier: createBlsVerifier },
};

beforeAll(enableSigningThreads);
afterAll(disableSigningThreads);

/** Gives each of these forks the same number of epochs, the first one from genesis on. */
function scheduleOf(forks: readonly DevFork[]): ScheduledFork[] {
  const epochs = SLOTS / SLOTS_PER_EPOCH / forks.length;
  return forks.map((fork, index) => ({ fork, epoch: Math.floor(index * epochs) }));
}

async function blocksOf({ devChain: { chain } }: OpenedDevChain): Promise<SignedBeaconBlock[]> {
  const blocks: SignedBeaconBlock[] = [];
  for (let slot = 1; slot <= SLOTS; slot++) blocks.push((await chain.blocks.canonicalAtSlot(slot))!.signed);
  return blocks;
}

/** Expects that a node with the same genesis verifies everything, payloads included, and reaches the same head. */
async function expectVerified(made: OpenedDevChain, options: Partial<DevNodeOptions>): Promise<void> {
  const follower = await openDevChain({ ...options, ...QUIET });
  const { chain, clock, evm } = follower.devChain;
  await evm?.ready;
  await clock.advanceTo(SLOTS);
  const { config, payloadStore } = made.devChain.chain;
  const blocks = await blocksOf(made);
  const earlier = blocks.filter(({ message }) => !hasEnvelope(config, message.slot));
  expect(await chain.importSegment(earlier)).toEqual({ imported: earlier.length, known: 0 });
  for (const block of blocks.slice(earlier.length)) {
    const { root } = await chain.importBlock(block);
    expect(await chain.importPayload((await payloadStore.get(root))!)).toEqual({ root, known: false });
  }
  expect(chain.head).toMatchObject({ root: made.devChain.chain.head.root, slot: SLOTS });
  expect(chain.forkChoice.finalized.epoch).toBe(made.devChain.chain.forkChoice.finalized.epoch);
  expect([...made.complaints, ...follower.complaints]).toEqual([]);
}

it("creates a thousand slots of all forks that pass full verification", async () => {
  const options = { ...OPTIONS, forks: scheduleOf(DEV_FORKS) };
  const made = await openDevChain({ ...options, speed: 0 });
  await made.devChain.control.time.advance({ slots: SLOTS });
  await expectVerified(made, options);
});

it("creates a thousand slots with automined transactions that pass full verification", async () => {
  const forks = scheduleOf(DEV_FORKS.slice(DEV_FORKS.indexOf("bellatrix")));
  const options = { ...OPTIONS, forks, evm: { chainId: 31_337 }, withdrawals: EVM_WITHDRAWALS };
  const made = await openDevChain({ ...options, speed: 0 });
  const { control, evm, clock } = made.devChain;
  await evm!.ready;
  // Transactions are automined once the chain is live.
  await made.devChain.run();
  const [from, to] = devAccountKeys().map(({ address }) => address);
  while (clock.currentSlot < SLOTS) {
    await evm!.eth.call("sendTransaction", { transaction: { from: from!, to: to!, value: 1n } });
    await control.time.advance({ slots: TRANSACTION_INTERVAL - 1 });
  }
  const { blocks, payloadStore } = made.devChain.chain;
  let withTransaction = 0;
  for (let slot = 1; slot <= SLOTS; slot++) {
    const { signed, root } = (await blocks.canonicalAtSlot(slot))!;
    const { payload } = (await payloadStore.payloadOf(signed, root))!;
    if (payload.transactions.length === 1) withTransaction++;
  }
  expect(withTransaction).toBe(SLOTS / TRANSACTION_INTERVAL);
  await expectVerified(made, options);
});
