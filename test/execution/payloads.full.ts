import { DOMAIN_DEPOSIT, FAR_FUTURE_EPOCH, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateElectra,
  computeDomain,
  computeSigningRoot,
  interopSecretKey,
  ZERO_HASH,
} from "@lodestar/state-transition";
import { type electra, type phase0, type Slot, ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import { ExecutionClient } from "../support/execution/execution-client.ts";

const RECEIVER = `0x${"ab".repeat(20)}`;

async function bodyAt(chain: BeaconChain, slot: Slot): Promise<electra.BeaconBlockBody> {
  const found = await chain.blocks.canonicalAtSlot(slot);
  return found!.signed.message.body as electra.BeaconBlockBody;
}

it("an execution client builds the payloads of a dev chain from capella to fulu, with its transactions", async () => {
  const forks = (["capella", "deneb", "electra", "fulu"] as const).map((fork, epoch) => ({ fork, epoch }));
  const client = await ExecutionClient.open({ forks });
  const { layer } = client;
  const { devChain, complaints } = await openDevChain(client.nodeOptions());
  const { clock, chain, config } = devChain;
  const sender = client.sender();
  for (const { fork, epoch } of forks) {
    const slot = epoch * SLOTS_PER_EPOCH + 2;
    await clock.advanceTo(slot);
    const { raw } = sender.transfer(RECEIVER, 5n);
    await layer.call("eth_sendRawTransaction", raw);
    await clock.advanceTo(slot + 2);
    expect(config.getForkName(slot)).toBe(fork);
    const { executionPayload } = await bodyAt(chain, slot + 1);
    expect(executionPayload.transactions.map(toHex)).toEqual([raw]);
    expect(executionPayload.blockNumber).toBe(slot + 1);
  }
  const end = 5 * SLOTS_PER_EPOCH;
  await clock.advanceTo(end);
  expect(chain.head).toMatchObject({ slot: end, execution: { status: "valid" } });
  expect(chain.forkChoice.finalized.epoch).toBe(3);
  const { executionPayload } = await bodyAt(chain, 3 * SLOTS_PER_EPOCH);
  expect(layer.chain.finalized?.hash).toBe(toHex(executionPayload.blockHash));
  expect(layer.chain.head.hash).toBe((chain.head.execution as { blockHash: string }).blockHash);
  expect(complaints).toEqual([]);
});

it("deposits, exits and consolidations requested by transactions take effect", async () => {
  const client = await ExecutionClient.open();
  const { layer } = client;
  const validators = 16;
  // With so little stake, consolidations would have no churn otherwise.
  const configOverrides = {
    MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: "128000000000",
    MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT: "64000000000",
  };
  const { devChain, complaints } = await openDevChain({ ...client.nodeOptions(), validators, configOverrides });
  const { clock, chain, config, keys, api } = devChain;
  const sender = client.sender();
  const send = ({ raw }: { raw: string }) => layer.call("eth_sendRawTransaction", raw);
  const operations = new SignedOperations(devChain);
  const [exiting, source, target] = [0, 1, 2] as const;
  const headState = () => chain.headState as CachedBeaconStateElectra;

  const blsToExecutionChanges = [exiting, source, target].map((index) =>
    operations.credentialsChange(index, fromHex(sender.address)),
  );
  await clock.advanceTo(1);
  await api.beacon.submitPoolBLSToExecutionChange({ blsToExecutionChanges });
  await clock.advanceTo(2);
  const deposit = signedDeposit(config.GENESIS_FORK_VERSION, validators, fromHex(sender.address));
  await send(sender.deposit(deposit));
  // A consolidation of a validator with itself switches it to compounding, as a target requires.
  await send(sender.requestConsolidation(keys.publicKey(target)!, keys.publicKey(target)!));
  await clock.advanceTo(3);
  const { executionRequests } = await bodyAt(chain, 3);
  expect(executionRequests.deposits).toEqual([{ ...deposit, index: 0n }]);
  expect(executionRequests.consolidations).toHaveLength(1);
  expect(headState().pendingDeposits.getAllReadonly()).toMatchObject([{ slot: 3, amount: deposit.amount }]);
  expect(headState().validators.getReadonly(target).withdrawalCredentials[0]).toBe(2);

  // Before that no validator may exit.
  const afterService = config.SHARD_COMMITTEE_PERIOD * SLOTS_PER_EPOCH;
  await clock.advanceTo(afterService);
  await send(sender.requestWithdrawal(keys.publicKey(exiting)!, 0n));
  await send(sender.requestConsolidation(keys.publicKey(source)!, keys.publicKey(target)!));
  await clock.advanceTo(afterService + 1);
  expect((await bodyAt(chain, afterService + 1)).executionRequests).toMatchObject({
    withdrawals: [{ amount: 0n }],
    consolidations: [{ sourceAddress: fromHex(sender.address) }],
  });
  const found = (index: number) => headState().validators.getReadonly(index);
  expect(found(exiting).exitEpoch).not.toBe(FAR_FUTURE_EPOCH);
  expect(found(source).exitEpoch).not.toBe(FAR_FUTURE_EPOCH);
  expect(headState().pendingConsolidations.getAllReadonly()).toMatchObject([
    { sourceIndex: source, targetIndex: target },
  ]);
  expect(toHex(found(validators).pubkey)).toBe(toHex(deposit.pubkey));
  expect(found(validators).activationEligibilityEpoch).toBe(FAR_FUTURE_EPOCH);
  expect(complaints).toEqual([]);
});

function signedDeposit(forkVersion: Uint8Array, index: number, address: Uint8Array): phase0.DepositData {
  const key = interopSecretKey(index);
  const withdrawalCredentials = new Uint8Array(32);
  withdrawalCredentials[0] = 1;
  withdrawalCredentials.set(address, 12);
  const message = { pubkey: key.toPublicKey().toBytes(), withdrawalCredentials, amount: 32_000_000_000 };
  const domain = computeDomain(DOMAIN_DEPOSIT, forkVersion, ZERO_HASH);
  return { ...message, signature: key.sign(computeSigningRoot(ssz.phase0.DepositMessage, message, domain)).toBytes() };
}
