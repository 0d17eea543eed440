import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateAltair, CachedBeaconStateElectra } from "@lodestar/state-transition";
import type { electra } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { Caller } from "../support/api/caller.ts";
import {
  ADDRESS,
  CODES,
  ETHER,
  expectRefusals,
  FULU,
  openControlled,
  requestsApplied,
  VALIDATORS,
} from "../support/chain/controlled-chain.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { PAYLOAD_FORKS } from "../support/chain/evm-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ExecutionClient } from "../support/execution/execution-client.ts";
import { variants } from "../support/suite/tier.ts";

it("the voting stake never exceeds the total stake, even when most of it exits", async () => {
  const { call, advance } = await openControlled(FULU, undefined, {
    configOverrides: { SHARD_COMMITTEE_PERIOD: "0" },
  });
  await advance(SLOTS_PER_EPOCH);
  for (let index = 0; index < VALIDATORS - 2; index++) await call("dev_exit", [index]);
  const seen = new Set<string>();
  for (let epoch = 0; epoch < 10; epoch++) {
    await advance(SLOTS_PER_EPOCH);
    const { previous_epoch, active_validators } = await call("getParticipation");
    expect(previous_epoch).toBe(1);
    seen.add(active_validators);
  }
  // At the end of epoch 7, the votes of epoch 6 are complete.
  expect(await call("getParticipation", [8 * SLOTS_PER_EPOCH - 1])).toMatchObject({ epoch: "7", previous_epoch: 1 });
  expect(seen.size).toBeGreaterThan(1);
});

describe.each(variants({ fast: PAYLOAD_FORKS.slice(0, 1), full: PAYLOAD_FORKS }))(
  "operations of a chain in $name",
  ({ forks, slotsToApply }) => {
    it("take effect by the protocol's rules, up to the last withdrawal, and other nodes agree", async () => {
      const chain = await openControlled(forks);
      const { call, advance, status, balance, validator } = chain;
      const headState = () => chain.chain.headState as CachedBeaconStateElectra;
      const [LEAVES, COMPOUNDS, SOURCE, TARGET] = [8, 9, 10, 11];

      for (const index of [LEAVES, COMPOUNDS, SOURCE, TARGET]) {
        expect(await call("dev_changeCredentials", [index, ADDRESS])).toMatchObject({
          type: "bls_to_execution_change",
          status: "pooled",
          data: { message: { validator_index: String(index), to_execution_address: ADDRESS } },
        });
      }
      await advance(1);
      for (const index of [COMPOUNDS, TARGET]) {
        const { validator: before } = await validator(index);
        expect(before.withdrawal_credentials).toBe(`0x01${"00".repeat(11)}${ADDRESS.slice(2)}`);
        expect(await call("dev_changeCredentials", { validator: before.pubkey, type: "0x02" })).toMatchObject({
          type: "consolidation_request",
          status: "queued",
          data: { source_pubkey: before.pubkey, target_pubkey: before.pubkey },
        });
      }
      await expectRefusals(chain, [
        ["dev_exit", [4], CODES.rejected, /Validator 4 cannot exit before epoch 4: .*SHARD_COMMITTEE_PERIOD/],
        ["dev_withdraw", [LEAVES], CODES.rejected, /Validator 8 cannot exit before epoch 4/],
        ["dev_withdraw", [4], CODES.rejected, /have no execution address\. .* dev_changeCredentials/],
        ["dev_consolidate", [SOURCE, COMPOUNDS], CODES.rejected, /The target of a consolidation requires compounding/],
        ["dev_changeCredentials", [LEAVES, ADDRESS], CODES.rejected, /execution credentials already.*"0x02"/],
        ["dev_changeCredentials", [5, ADDRESS, "0x02"], CODES.rejected, /have no execution address/],
        [
          "dev_changeCredentials",
          [LEAVES, `0x${"00".repeat(20)}`, "0x02"],
          CODES.rejected,
          /The address .* cannot change from 0xadad/,
        ],
      ]);
      await advance(slotsToApply);
      for (const index of [COMPOUNDS, TARGET]) {
        expect((await validator(index)).validator.withdrawal_credentials).toBe(
          `0x02${"00".repeat(11)}${ADDRESS.slice(2)}`,
        );
      }

      // A deposit with an invalid signature adds no validator, so its key is used again.
      const [bad] = await call("dev_deposit", { bad_signature: true });
      const entering = await call("dev_deposit", { count: 2 });
      expect(entering.map(({ data }: { data: { index: string } }) => data.index)).toEqual(["17", "18"]);
      expect(entering[0]).toMatchObject({
        type: "deposit_request",
        status: "queued",
        data: { pubkey: bad.data.pubkey },
      });
      expect(entering[0].data.signature).not.toBe(bad.data.signature);
      await call("dev_deposit", { validator: COMPOUNDS, amount: 40 * ETHER });
      const [later] = await call("dev_deposit", {});
      await advance(slotsToApply);
      expect(headState().pendingDeposits.length).toBe(5);
      expect(
        requestsApplied((await chain.chain.blocks.signedByRoot(chain.chain.head.root))!.message).deposits,
      ).toHaveLength(5);

      await chain.call("dev_advance", {
        until: { validator: later.data.pubkey, status: "active_ongoing" },
        limit: 200,
      });
      expect(headState().validators.length).toBe(VALIDATORS + 3);
      expect((await validator(VALIDATORS)).validator.pubkey).toBe(bad.data.pubkey);
      expect((await validator(VALIDATORS + 2)).validator.pubkey).toBe(later.data.pubkey);
      expect(await balance(COMPOUNDS)).toBeGreaterThan(72 * ETHER);
      expect((await validator(COMPOUNDS)).validator.effective_balance).toBe(String(72 * ETHER));

      const keys = await call("dev_keys", { first: VALIDATORS });
      expect(keys.map(({ pubkey }: { pubkey: string }) => pubkey)).toEqual([
        ...entering.map(({ data }: { data: { pubkey: string } }) => data.pubkey),
        later.data.pubkey,
      ]);

      // New validators do their duties like the others.
      await advance(2 * SLOTS_PER_EPOCH);
      const participation = (chain.chain.headState as CachedBeaconStateAltair).previousEpochParticipation.getAll();
      expect(participation).toEqual(Array(VALIDATORS + 3).fill(7));

      expect(await call("dev_slash", [1])).toMatchObject([{ type: "proposer_slashing", status: "pooled" }]);
      expect(await call("dev_slash", [[3, 2], "attester"])).toMatchObject([
        { type: "attester_slashing", data: { attestation_1: { attesting_indices: ["2", "3"] } } },
      ]);
      const exit = await call("dev_exit", [4]);
      expect(exit).toMatchObject({ type: "voluntary_exit", status: "pooled" });
      expect(await call("dev_withdraw", [LEAVES])).toMatchObject({ type: "withdrawal_request", data: { amount: "0" } });
      expect(await call("dev_withdraw", [COMPOUNDS, 5 * ETHER])).toMatchObject({ status: "queued" });
      expect(await call("dev_consolidate", [SOURCE, TARGET])).toMatchObject({ type: "consolidation_request" });
      // Pending operations are not created again.
      await call("dev_skip", { epochs: 1 });
      expect(await call("dev_exit", [4])).toEqual(exit);
      await call("dev_slash", [[2, 1]]);
      await call("dev_slash", [[2, 3], "attester"]);
      const sizes = { proposerSlashings: 2, attesterSlashings: 1, voluntaryExits: 1 };
      expect(chain.chain.pools.operations.sizes).toMatchObject(sizes);
      await expectRefusals(chain, [
        [
          "dev_withdraw",
          [COMPOUNDS, 10 ** 15],
          CODES.invalid,
          /must be in Gwei, but .* If that is wei, it is 1000000 /,
        ],
        ["dev_withdraw", [SOURCE, 1], CODES.rejected, /Partial withdrawals require compounding credentials/],
      ]);
      await call("dev_advance", { until: { validator: 2, status: "active_slashed" }, limit: 20 });
      await advance(slotsToApply);
      expect(await Promise.all([1, 2, 3, 5].map(status))).toEqual([
        "active_slashed",
        "active_slashed",
        "active_slashed",
        "active_ongoing",
      ]);
      expect(await Promise.all([4, LEAVES, SOURCE].map(status))).toEqual(Array(3).fill("active_exiting"));
      expect(headState().pendingPartialWithdrawals.length).toBe(1);
      expect(headState().pendingConsolidations.length).toBe(1);
      await expectRefusals(chain, [
        ["dev_slash", [1], CODES.rejected, /Validator 1 is already slashed/],
        ["dev_exit", [1], CODES.rejected, /Validator 1 cannot exit: it is exiting at epoch \d+/],
        ["dev_exit", [4], CODES.rejected, /Validator 4 cannot exit: it is exiting/],
        ["dev_exit", [COMPOUNDS], CODES.rejected, /before its pending partial withdrawals of 5 ETH are processed/],
        ["dev_withdraw", [COMPOUNDS], CODES.rejected, /before its pending partial withdrawals/],
        ["dev_consolidate", [COMPOUNDS, TARGET], CODES.rejected, /pending partial withdrawals/],
        [
          "dev_consolidate",
          [SOURCE, TARGET],
          CODES.rejected,
          /Validator 10 cannot be consolidated into another: it is exiting/,
        ],
        [
          "dev_changeCredentials",
          { validator: TARGET, type: "0x02" },
          CODES.rejected,
          /has compounding credentials already/,
        ],
      ]);

      const before = { compounds: await balance(COMPOUNDS), target: await balance(TARGET) };
      await call("dev_skip", { epochs: chain.devChain.config.MIN_VALIDATOR_WITHDRAWABILITY_DELAY + 8 });
      await chain.until(LEAVES, "withdrawal_done");
      await advance(2 * SLOTS_PER_EPOCH);
      expect(await status(4)).toBe("withdrawal_possible");
      expect(await status(SOURCE)).toBe("withdrawal_done");
      const leaked = 0.95;
      expect(await balance(COMPOUNDS)).toBeLessThan(before.compounds - 5 * ETHER);
      expect(await balance(COMPOUNDS)).toBeGreaterThan((before.compounds - 5 * ETHER) * leaked);
      expect(await balance(TARGET)).toBeGreaterThan((before.target + 32 * ETHER) * leaked);
      await expectRefusals(chain, [
        ["dev_exit", [4], CODES.rejected, /Validator 4 cannot exit: it exited at epoch/],
        ["dev_slash", [4], CODES.rejected, /is no longer slashable: it is withdrawable since epoch/],
      ]);
      await call("dev_exit", [TARGET]);
      await advance(slotsToApply);
      await expectRefusals(chain, [
        [
          "dev_consolidate",
          [COMPOUNDS, TARGET],
          CODES.rejected,
          /Validator 11 cannot be the target of a consolidation: it is exiting/,
        ],
      ]);
      await chain.expectFollowed();
      chain.expectHealth();
    });

    it("are rejected without an effect if they are invalid", async () => {
      const chain = await openControlled(forks);
      await expectRefusals(chain, [
        ["dev_slash", [99], CODES.absent, /There is no validator 99: the chain has 16/],
        ["dev_slash", [[1, 99]], CODES.absent, /There is no validator 99/],
        ["dev_slash", [[]], CODES.invalid, /"validators" must be a validator/],
        ["dev_slash", [1, "both"], CODES.invalid, /must be one of "proposer", "attester"/],
        ["dev_exit", [`0x${"00".repeat(48)}`], CODES.absent, /There is no validator 0x00/],
        ["dev_withdraw", [1, -1], CODES.invalid, /"amount" must be/],
        [
          "dev_changeCredentials",
          [1],
          CODES.invalid,
          /^Missing address: dev_changeCredentials needs the withdrawal address for validator 1\.$/,
        ],
        ["dev_changeCredentials", [1, ADDRESS, "0x03"], CODES.invalid, /must be one of "0x01", "0x02"/],
        ["dev_consolidate", [1, 1], CODES.invalid, /cannot be consolidated into itself/],
        ["dev_deposit", { validator: 1, count: 2 }, CODES.invalid, /validator and count are mutually exclusive/],
        ["dev_deposit", { validator: 99 }, CODES.absent, /There is no validator 99/],
        ["dev_deposit", { count: 0 }, CODES.invalid, /"count" must be a number of validators from 1 to 1024/],
        ["dev_deposit", { amount: ETHER - 1 }, CODES.invalid, /"amount" must be an amount in Gwei from 1000000000/],
        ["dev_deposit", { withdrawal_credentials: ADDRESS }, CODES.invalid, /0x followed by 64 hex digits/],
      ]);
      await chain.advance(slotsToApply);
      const block = (await chain.chain.blocks.canonicalAtSlot(slotsToApply))!.signed.message;
      const { proposerSlashings, blsToExecutionChanges } = block.body as electra.BeaconBlockBody;
      expect([proposerSlashings, blsToExecutionChanges, ...Object.values(requestsApplied(block))].flat()).toEqual([]);
    });

    it("survive a crash while pending, and are included once", async () => {
      const directory = tempDirectory();
      const first = await openControlled(forks, directory);
      await first.advance(2);
      await first.call("dev_slash", [1]);
      await first.call("dev_changeCredentials", [2, ADDRESS]);
      await first.call("dev_deposit", { validator: 3 });
      await first.abandon();
      const second = await openControlled(forks, directory);
      await second.advance(2);
      expect(await second.status(1)).toBe("active_slashed");
      await second.abandon();
      const third = await openControlled(forks, directory);
      await third.advance(2 * SLOTS_PER_EPOCH);
      const { headState } = third.chain;
      expect(headState.validators.getReadonly(2).withdrawalCredentials[0]).toBe(1);
      expect((headState as CachedBeaconStateElectra).pendingDeposits.length).toBe(1);
      await third.expectFollowed();
    });
  },
);

const TWO_FORKS: ScheduledFork[] = [
  { fork: "deneb", epoch: 0 },
  { fork: "electra", epoch: 2 },
  { fork: "fulu", epoch: 3 },
];

it("creates slashings across a fork that started in empty slots", async () => {
  const { call, advance, status, expectHealth } = await openControlled(TWO_FORKS);
  await advance(2 * SLOTS_PER_EPOCH - 2);
  await call("dev_skip", [3]);
  await call("dev_slash", [2]);
  await call("dev_slash", [3, "attester"]);
  // A pending slashing of another validator does not stand for this one.
  await call("dev_slash", [4, "attester"]);
  await advance(3);
  expect(await Promise.all([2, 3, 4].map(status))).toEqual(Array(3).fill("active_slashed"));
  expectHealth();
});

it("creates a slashing again if the first was signed for a fork that is too old for current blocks", async () => {
  const { call, advance, status } = await openControlled(TWO_FORKS);
  await advance(2 * SLOTS_PER_EPOCH - 2);
  await call("dev_slash", [2]);
  await call("dev_slash", [3, "attester"]);
  await call("dev_skip", [SLOTS_PER_EPOCH + 3]);
  await call("dev_advance", { until: { finalized: 4 } });
  expect([await status(2), await status(3)]).toEqual(["active_ongoing", "active_ongoing"]);
  await call("dev_slash", [2]);
  await call("dev_slash", [3, "attester"]);
  await advance(2);
  expect([await status(2), await status(3)]).toEqual(["active_slashed", "active_slashed"]);
});

it("on a chain with an execution client, creates operations without transactions and explains the source of the others", async () => {
  const client = await ExecutionClient.open();
  const { devChain } = await openDevChain(client.nodeOptions());
  const caller = new Caller(devChain.api);
  await devChain.clock.advanceTo(1);
  expect(await caller.call("dev_slash", [1])).toMatchObject([{ status: "pooled" }]);
  expect(await caller.call("dev_changeCredentials", [2, ADDRESS])).toMatchObject({ status: "pooled" });
  const unsupported = (message: RegExp) => ({ code: -32004, message: expect.stringMatching(message) });
  expect(await caller.error("dev_withdraw", [2])).toMatchObject(unsupported(/\(--el\)\. Instead, call .*EIP-7002/));
  expect(await caller.error("dev_consolidate", [2, 3])).toMatchObject(unsupported(/call the .*EIP-7251/));
  expect(await caller.error("dev_deposit")).toMatchObject(
    unsupported(/deposit contract.* Send the deposit as a transaction/),
  );
  await devChain.clock.advanceTo(3);
  expect(devChain.chain.headState.validators.getReadonly(1).slashed).toBe(true);
});
