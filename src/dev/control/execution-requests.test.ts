import {
  ForkName,
  MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD,
  MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD,
} from "@lodestar/params";
import { type electra, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { ExecutionRequestQueue } from "./execution-requests.ts";

const ELECTRA_SLOT = 2;
const GENESIS = rootOf(0);

function rootOf(number: number): RootHex {
  return toRootHex(new Uint8Array(32).fill(number));
}

const withdrawal = (amount: number): electra.WithdrawalRequest => ({
  ...ssz.electra.WithdrawalRequest.defaultValue(),
  amount: BigInt(amount),
});
const consolidation = (mark: number): electra.ConsolidationRequest => ({
  ...ssz.electra.ConsolidationRequest.defaultValue(),
  sourceAddress: new Uint8Array(20).fill(mark),
});
const deposits = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...ssz.electra.DepositRequest.defaultValue(), amount: n }));

/**
 * Creates a queue on a chain whose blocks contain what the queue selects for them. The chain forks to electra at slot
 * 2.
 */
async function scene() {
  const db = await openEmptyDatabase();
  const blocks = new Map<RootHex, SignedBeaconBlock>();
  const chain = {
    head: { slot: 0 },
    config: { getForkName: (slot: number) => (slot < ELECTRA_SLOT ? ForkName.deneb : ForkName.electra) },
    blocks: { signedByRoot: async (root: RootHex) => blocks.get(root) ?? null },
    forkChoice: { finalized: { root: GENESIS } },
  };
  const open = () => new ExecutionRequestQueue(chain as unknown as BeaconChain, db);
  let layer = 0;
  const scene = {
    chain,
    queue: open(),
    build,
    restart: () => (scene.queue = open()),
    snapshot: async () => (layer = await db.addLayer()),
    revert: async () => {
      await db.dropLayer(layer);
      chain.head.slot = 0;
      scene.queue.forgetBlocks();
    },
  };
  let count = 0;
  return scene;

  /** Builds a block, which becomes the head. Returns the block's root and requests. */
  async function build(parent: RootHex, slot: number, root = rootOf(++count)) {
    const requests = await scene.queue.selectFor(parent);
    const signed = ssz[slot < ELECTRA_SLOT ? "deneb" : "electra"].SignedBeaconBlock.defaultValue();
    signed.message.slot = slot;
    signed.message.parentRoot = fromHex(parent);
    if (slot >= ELECTRA_SLOT) (signed.message.body as electra.BeaconBlockBody).executionRequests = requests;
    blocks.set(root, signed);
    chain.head.slot = slot;
    return { root, requests };
  }
}

const amountsOf = ({ withdrawals }: electra.ExecutionRequests) => withdrawals.map(({ amount }) => Number(amount));

it("fills a payload up to the limit of each kind, in order", async () => {
  const { queue, build } = await scene();
  for (let n = 0; n <= MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD; n++) await queue.addWithdrawal(withdrawal(n));
  for (let n = 0; n <= MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD; n++) await queue.addConsolidation(consolidation(n));
  const first = await build(GENESIS, ELECTRA_SLOT);
  expect(amountsOf(first.requests)).toEqual(Array.from({ length: MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD }, (_, n) => n));
  expect(first.requests.consolidations).toHaveLength(MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD);
  const second = await build(first.root, ELECTRA_SLOT + 1);
  expect(amountsOf(second.requests)).toEqual([MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD]);
  expect(second.requests.consolidations).toEqual([consolidation(MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD)]);
  expect((await build(second.root, ELECTRA_SLOT + 2)).requests).toEqual(ssz.electra.ExecutionRequests.defaultValue());
});

it("includes a request once on every branch, and equal requests once each", async () => {
  const { queue, build } = await scene();
  const base = await build(GENESIS, ELECTRA_SLOT);
  await queue.addWithdrawal(withdrawal(7));
  await queue.addWithdrawal(withdrawal(7));
  const left = await build(base.root, 3);
  const right = await build(base.root, 4);
  expect([left, right].map(({ requests }) => amountsOf(requests))).toEqual([
    [7, 7],
    [7, 7],
  ]);
  expect(amountsOf((await build(left.root, 5)).requests)).toEqual([]);
  await queue.addWithdrawal(withdrawal(7));
  expect(amountsOf((await build(right.root, 6)).requests)).toEqual([7]);
});

it("waits for electra", async () => {
  const { queue, build } = await scene();
  await queue.addWithdrawal(withdrawal(7));
  const before = await build(GENESIS, ELECTRA_SLOT - 1);
  const first = await build(before.root, ELECTRA_SLOT);
  expect(amountsOf(first.requests)).toEqual([7]);
  expect(amountsOf((await build(first.root, ELECTRA_SLOT + 1)).requests)).toEqual([]);
});

it("a block before a request does not include it, even if it includes a final one that is equal", async () => {
  const setup = await scene();
  const { queue, build, chain } = setup;
  for (let n = 0; n <= MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD; n++) await queue.addWithdrawal(withdrawal(n));
  const first = await build(GENESIS, ELECTRA_SLOT);
  const second = await build(first.root, ELECTRA_SLOT + 1);
  chain.forkChoice.finalized.root = first.root;
  const third = await build(second.root, ELECTRA_SLOT + 2);
  await queue.addWithdrawal(withdrawal(0));
  setup.restart();
  expect(amountsOf((await build(third.root, ELECTRA_SLOT + 3)).requests)).toEqual([0]);
});

it("the block that was the head when a request was made does not include it", async () => {
  const setup = await scene();
  const { queue, build, chain } = setup;
  for (let n = 0; n <= MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD; n++) await queue.addWithdrawal(withdrawal(n));
  const first = await build(GENESIS, ELECTRA_SLOT);
  chain.forkChoice.finalized.root = first.root;
  await queue.selectFor(first.root);
  await queue.addWithdrawal(withdrawal(0));
  setup.restart();
  const { requests } = await build(first.root, ELECTRA_SLOT + 1);
  expect(amountsOf(requests)).toEqual([MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD, 0]);
});

it("keeps requests and deposit indices over a restart", async () => {
  const setup = await scene();
  const { build } = setup;
  await setup.queue.addWithdrawal(withdrawal(7));
  await setup.queue.addDeposits(deposits(2), 64);
  const first = await build(GENESIS, ELECTRA_SLOT);
  setup.restart();
  expect(amountsOf((await build(first.root, ELECTRA_SLOT + 1)).requests)).toEqual([]);
  expect((await setup.queue.addDeposits(deposits(1), 0)).map(({ index }) => index)).toEqual([66n]);
});

it("forgets a request once the block that includes it is final", async () => {
  const { queue, build, chain } = await scene();
  await queue.addDeposits(deposits(1), 0);
  const first = await build(GENESIS, ELECTRA_SLOT);
  const second = await build(first.root, ELECTRA_SLOT + 1);
  expect(await queue.pendingDeposits()).toHaveLength(1);
  chain.forkChoice.finalized.root = first.root;
  await build(second.root, ELECTRA_SLOT + 2);
  expect(await queue.pendingDeposits()).toEqual([]);
});

it("after a revert, an equal block may include requests with other ids", async () => {
  const setup = await scene();
  const { queue, build } = setup;
  const withdrawals = Array.from({ length: MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD + 1 }, (_, n) => withdrawal(n));
  await setup.snapshot();
  for (const each of withdrawals) await queue.addWithdrawal(each);
  await queue.addConsolidation(consolidation(0));
  const first = await build(GENESIS, ELECTRA_SLOT);
  await build(first.root, ELECTRA_SLOT + 1);

  await setup.revert();
  await queue.addConsolidation(consolidation(0));
  for (const each of withdrawals) await queue.addWithdrawal(each);
  const again = await build(GENESIS, ELECTRA_SLOT, first.root);
  expect(again.requests).toEqual(first.requests);
  const next = await build(again.root, ELECTRA_SLOT + 1);
  expect(amountsOf(next.requests)).toEqual([MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD]);
});
