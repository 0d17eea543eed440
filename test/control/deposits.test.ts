import { EPOCHS_PER_ETH1_VOTING_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateElectra } from "@lodestar/state-transition";
import type { BeaconBlock, electra } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import {
  ADDRESS,
  CODES,
  ETHER,
  expectRefusals,
  FULU,
  openControlled,
  type Refusal,
  VALIDATORS,
} from "../support/chain/controlled-chain.ts";
import { EVM } from "../support/chain/evm-chain.ts";
import { GLOAS } from "../support/chain/gloas-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { variants } from "../support/suite/tier.ts";

const VOTING_PERIOD = EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH;
const FORKS_BEFORE = variants({ fast: ["deneb"], full: ["phase0"] } as const);

describe("deposits before electra", () => {
  it.each(FORKS_BEFORE)("are voted for and proven in blocks of %s", async (fork) => {
    const directory = tempDirectory();
    const forks: ScheduledFork[] = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
    let chain = await openControlled(forks, directory);
    await chain.advance(3);
    await expectRefusals(chain, [["get_v1_beacon_deposit_snapshot", [], CODES.absent, /after the first dev_deposit/]]);
    const [bad] = await chain.call("dev_deposit", { bad_signature: true });
    expect(bad).toMatchObject({ type: "deposit_data", status: "logged" });
    const [first] = await chain.call("dev_deposit", {});
    expect(first.data.pubkey).toBe(bad.data.pubkey);
    await chain.call("dev_deposit", { validator: 0, amount: 2 * ETHER });
    await chain.abandon();
    chain = await openControlled(forks, directory);
    const [second] = await chain.call("dev_deposit", {});
    expect(second.data.pubkey).not.toBe(first.data.pubkey);
    // More than half of a voting period has to agree.
    await chain.call("dev_advance", { until: { slot: 1.5 * VOTING_PERIOD - 1 } });
    expect(chain.chain.headState.eth1DepositIndex).toBe(VALIDATORS);
    await chain.advance(1);
    const { headState } = chain.chain;
    expect(headState.eth1DepositIndex).toBe(VALIDATORS + 4);
    expect(headState.validators.length).toBe(VALIDATORS + 2);
    expect(await chain.balance(0)).toBeGreaterThan(33.9 * ETHER);
    // The deposit snapshot has the genesis deposits until a state with the others is finalized.
    const snapshot = () => chain.call("get_v1_beacon_deposit_snapshot");
    expect(await snapshot()).toMatchObject({ deposit_count: String(VALIDATORS), execution_block_height: "0" });
    await chain.call("dev_advance", { until: { finalized: headState.epochCtx.epoch + 1 } });
    const { blockHash, depositRoot } = headState.eth1Data;
    expect(await snapshot()).toMatchObject({
      deposit_count: String(VALIDATORS + 4),
      deposit_root: toHex(depositRoot),
      execution_block_hash: toHex(blockHash),
    });
    await chain.call("dev_deposit", { validator: 0 });
    await chain.expectFollowed();
    chain.expectHealth();
    await expectRefusals(chain, [
      [
        "dev_withdraw",
        [1],
        CODES.rejected,
        /from electra on\. This chain is in (phase0|deneb), and electra is not scheduled/,
      ],
      ["dev_consolidate", [1, 2], CODES.rejected, /Validators can be consolidated from electra on/],
      ...(fork === "phase0"
        ? ([["dev_changeCredentials", [1, ADDRESS], CODES.rejected, /can be changed from capella on/]] as const)
        : ([
            [
              "dev_changeCredentials",
              [1, ADDRESS, "0x02"],
              CODES.rejected,
              /Compounding credentials are supported from electra on/,
            ],
          ] as const)),
    ] as Refusal[]);
  });

  it("continue as execution requests from electra on", async () => {
    const chain = await openControlled([
      { fork: "deneb", epoch: 0 },
      { fork: "electra", epoch: 3 },
    ]);
    await chain.call("dev_deposit", {});
    await chain.call("dev_advance", { until: { epoch: 3 } });
    expect(chain.chain.headState.validators.length).toBe(VALIDATORS + 1);
    const [request] = await chain.call("dev_deposit", {});
    expect(request).toMatchObject({ status: "queued", data: { index: String(VALIDATORS + 1) } });
    await chain.advance(2);
    const { depositRequestsStartIndex, pendingDeposits } = chain.chain.headState as CachedBeaconStateElectra;
    expect(depositRequestsStartIndex).toBe(BigInt(VALIDATORS + 1));
    // The previous one is pending again: the fork queues the deposits of inactive validators.
    expect(pendingDeposits.length).toBe(2);
    expect(toHex(pendingDeposits.getReadonly(1).pubkey)).toBe(request.data.pubkey);
    await chain.expectFollowed();
    chain.expectHealth();
  });
});

it("a deposit is rejected if its vote would not end before fulu, and accepted before that", async () => {
  const forks: ScheduledFork[] = [
    { fork: "deneb", epoch: 0 },
    { fork: "electra", epoch: 6 },
    { fork: "fulu", epoch: 7 },
  ];
  const { call, error, advance, chain } = await openControlled(forks);
  await advance(1);
  await call("dev_deposit");
  await advance(39);
  expect(await error("dev_deposit")).toMatchObject({
    code: CODES.rejected,
    message: expect.stringMatching(/activates at slot 56\. Make the deposit at slot 48 \(electra\) or later/),
  });
  await advance(8);
  const [queued] = await call("dev_deposit");
  expect(queued).toMatchObject({ status: "queued" });
  await advance(3 * SLOTS_PER_EPOCH);
  expect(chain.headState.validators.length).toBe(VALIDATORS + 2);
});

it("includes a request once per branch", async () => {
  const { devChain, call, chain } = await openControlled(FULU, undefined, { activeValidators: [] });
  const byHand = new ByHand(devChain);
  const depositsOf = ({ body }: BeaconBlock) => (body as electra.BeaconBlockBody).executionRequests.deposits.length;
  const propose = async (slot: number, parentRoot: string) => {
    await devChain.clock.advanceTo(slot);
    return byHand.propose(slot, parentRoot);
  };
  const base = await propose(1, chain.head.root);
  await call("dev_deposit", { validator: 0 });
  await call("dev_deposit", { validator: 0 });
  const first = await propose(2, base.root);
  expect(depositsOf(first.signed.message)).toBe(2);
  await call("dev_deposit", { validator: 0 });
  const child = await propose(3, first.root);
  expect(depositsOf(child.signed.message)).toBe(1);
  expect(depositsOf((await propose(4, child.root)).signed.message)).toBe(0);
  const sibling = await propose(5, base.root);
  expect(depositsOf(sibling.signed.message)).toBe(3);
  expect(depositsOf((await propose(6, sibling.root)).signed.message)).toBe(0);
});

it.each([
  ["the built-in engine", {}],
  ["the EVM", EVM],
])(
  "a request of a withheld payload, or of an orphaned one, is made again and applied once, with %s",
  async (_, options) => {
    const { call, advance, chain, expectHealth } = await openControlled(GLOAS, undefined, options);
    const pending = () => (chain.headState as CachedBeaconStateElectra).pendingDeposits.length;
    await advance(2);
    await call("dev_withholdPayloads", { slots: 2 });
    const [first] = await call("dev_deposit");
    await advance(2);
    expect(pending()).toBe(0);
    await advance(1);
    // The payload of the head has the deposit, which the next block applies.
    expect(pending()).toBe(0);
    const [second] = await call("dev_deposit");
    expect(second.data.pubkey).not.toBe(first.data.pubkey);
    await advance(1);
    expect(pending()).toBe(1);
    await advance(1);
    expect(pending()).toBe(2);
    await call("dev_reorg", { depth: 3 });
    await advance(2);
    expect(pending()).toBe(2);
    expectHealth();
  },
);
