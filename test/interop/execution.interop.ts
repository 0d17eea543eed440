import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Sender, type SignedTransaction } from "../support/execution-layer/transactions.ts";
import { toQuantity } from "../support/execution-layer/wire.ts";
import { until } from "./beacon-rest.ts";
import { CHAIN_ID, ExecutionChain, SLOT_SECONDS, SLOTS_PER_EPOCH, VALIDATORS } from "./execution-chain.ts";
import { credentialsChange, depositOf, type GenesisFacts, publicKeyOf } from "./staking.ts";

/** Finalized epochs of each fork. */
const EPOCHS = 5;
const FORKS = [
  { fork: "capella", epoch: 0 },
  { fork: "deneb", epoch: EPOCHS },
  { fork: "electra", epoch: 2 * EPOCHS },
] as const;
/**
 * Validators whose withdrawals go to the sender of transactions: the one exits, the other is consolidated with the
 * third.
 */
const EXITING = 1;
const SOURCE = 2;
const TARGET = 3;
const NEW = VALIDATORS;
const FAR_FUTURE_EPOCH = "18446744073709551615";
/** A busy machine may miss some slots. */
const FEWEST_BLOCKS = 0.75;

/** Initial history of the chain with faults, partly finalized. */
const HISTORY_EPOCHS = 4;

interface Validator {
  status: string;
  validator: { exit_epoch: string };
}

interface Syncing {
  el_offline: boolean;
}

it("a chain from capella to electra finalizes with @ethereumjs/client, with transactions and execution requests", async () => {
  const genesisTime = Math.floor(Date.now() / 1000);
  const timeOf = (epoch: number) => genesisTime + epoch * SLOTS_PER_EPOCH * SLOT_SECONDS;
  const [, deneb, electra] = FORKS;
  const chain = await ExecutionChain.start({
    genesisTime,
    forks: { shanghai: genesisTime, cancun: timeOf(deneb.epoch), prague: timeOf(electra.epoch) },
    flags: ["--fork", "capella", "--fork-at", `deneb=${deneb.epoch},electra=${electra.epoch}`, "--warmup-epochs", "0"],
  });
  const { node } = chain;
  const genesis = await node.call<GenesisFacts>("get_v1_beacon_genesis");
  const sender = new Sender(CHAIN_ID);
  const changes = [EXITING, SOURCE, TARGET].map((index) => credentialsChange(index, sender.address, genesis));
  await node.call("post_v1_beacon_pool_bls_to_execution_changes", [changes]);

  const sent: { fork: string; transaction: SignedTransaction }[] = [];
  const send = async (fork: string, transaction: SignedTransaction) => {
    await chain.send(transaction.raw);
    sent.push({ fork, transaction });
  };
  for (const { fork, epoch } of FORKS) {
    // The client validates transactions by the wall clock, which may be ahead of the chain on a busy machine.
    await chain.untilEpoch(epoch + 1);
    await send(fork, sender.transfer(`0x${"de".repeat(20)}`, 1n));
  }
  await send("electra", sender.deposit(depositOf(NEW, sender.address, genesis)));
  await send("electra", sender.requestWithdrawal(publicKeyOf(EXITING), 0n));
  await send("electra", sender.requestConsolidation(publicKeyOf(TARGET), publicKeyOf(TARGET)));
  await send("electra", sender.requestConsolidation(publicKeyOf(SOURCE), publicKeyOf(TARGET)));

  const ofHead = <T>(what: string, ids: readonly unknown[] = []) =>
    node.call<T>(`get_v1_beacon_states_stateId_${what}`, ["head", ...ids]);
  const consolidations = await until(
    () => ofHead<unknown[]>("pending_consolidations"),
    ({ length }) => length > 0,
  );
  expect(consolidations).toEqual([{ source_index: String(SOURCE), target_index: String(TARGET) }]);
  const validator = async (index: number) => (await ofHead<Validator[]>("validators", [[String(index)]]))[0];
  const untilStatus = (index: number, status: string) =>
    until(
      () => validator(index),
      (found) => found?.status === status,
    );
  for (const leaving of [EXITING, SOURCE]) {
    expect((await validator(leaving))?.validator.exit_epoch).not.toBe(FAR_FUTURE_EPOCH);
  }
  await untilStatus(EXITING, "exited_unslashed");
  await untilStatus(NEW, "active_ongoing");
  const { finalized_slot: last } = await chain.untilFinalized(electra.epoch + EPOCHS);

  const ends = [deneb.epoch * SLOTS_PER_EPOCH, electra.epoch * SLOTS_PER_EPOCH, Number(last)];
  for (const [position, { fork, epoch }] of FORKS.entries()) {
    const slots = [epoch * SLOTS_PER_EPOCH, ends[position]!] as const;
    const blocks = await chain.blocks(...slots);
    const payloads = blocks.map(({ body }) => body.execution_payload);
    expect(blocks.length).toBeGreaterThanOrEqual((slots[1] - slots[0]) * FEWEST_BLOCKS);
    const transactions = sent.filter((each) => each.fork === fork).map(({ transaction }) => transaction.raw);
    expect(payloads.flatMap((payload) => payload.transactions)).toEqual(transactions);
    const receivers = payloads.flatMap(({ withdrawals }) => withdrawals.map(({ address }) => address));
    expect(new Set(receivers)).toEqual(new Set([sender.address]));
    const { block_number: number, block_hash: hash } = payloads.at(-1)!;
    const block = { number: toQuantity(Number(number)), hash };
    expect(await chain.client.eth.call("eth_getBlockByNumber", block.number, false)).toMatchObject(block);
  }
});

it("a chain recovers after @ethereumjs/client was offline, lost its data, or rejected the secret", async () => {
  const chain = await ExecutionChain.start({
    genesisTime: Math.floor(Date.now() / 1000) - HISTORY_EPOCHS * SLOTS_PER_EPOCH * SLOT_SECONDS,
    forks: { shanghai: 0, cancun: 0, prague: 0 },
    flags: ["--fork", "electra", "--warmup-epochs", String(HISTORY_EPOCHS)],
  });
  const { client } = chain;
  await chain.node.untilLine(/Dev chain is running/);
  const untilOffline = (isOffline: boolean) =>
    chain.node.callUntil<Syncing>("get_v1_node_syncing", ({ el_offline }) => el_offline === isOffline, { seconds: 60 });
  const expectToGoOn = async () => {
    const { head_slot: slot, finalized_slot: finalized } = await chain.head();
    const head = await chain.untilFinalized(Number(finalized) / SLOTS_PER_EPOCH + 2);
    expect(Number(head.head_slot)).toBeGreaterThan(Number(slot));
    expect(await chain.node.call("get_v1_node_syncing")).toMatchObject({ is_optimistic: false, el_offline: false });
  };

  for (const fault of ["SIGTERM", "SIGKILL", "data lost"] as const) {
    const from = chain.node.lines.length;
    await client.stop(fault === "SIGKILL" ? fault : "SIGTERM");
    await untilOffline(true);
    await chain.node.untilLine(/WARN .* Execution client is offline/, { from });
    expect(await chain.node.call("get_v1_node_health")).toEqual({ health: 206 });
    if (fault === "data lost") client.removeData();
    await client.start();
    await untilOffline(false);
    await chain.node.untilLine(/Execution client reconnected/, { from });
    await expectToGoOn();
    if (fault !== "data lost") continue;
    await chain.node.untilLine(/Payload backfill completed/, { from });
    const [first] = await chain.blocks(1, HISTORY_EPOCHS * SLOTS_PER_EPOCH);
    expect(await client.eth.call("eth_getBlockByNumber", "0x1", false)).toMatchObject({
      hash: first!.body.execution_payload.block_hash,
    });
  }

  const secretFile = join(tempDirectory(), "jwt.hex");
  writeFileSync(secretFile, "00".repeat(32), { mode: 0o600 });
  await chain.restartNode(secretFile);
  await chain.node.untilLine(/Execution client rejected the JWT: --jwt-secret must name the same file/);
  await untilOffline(true);
  cpSync(client.secretFile, secretFile);
  await untilOffline(false);
  await expectToGoOn();
  expect(chain.node.lines.filter((line) => line.includes("rejected the JWT"))).toHaveLength(1);
});
