import { join } from "node:path";
import { ForkName } from "@lodestar/params";
import type { electra, gloas, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { initialiseDatabase } from "../../src/chain/anchor/anchor.ts";
import type { VirtualClock } from "../../src/chain/clock/virtual-clock.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { encodeDepositCall } from "../../src/dev/evm/deposit-call.ts";
import { DevEvm } from "../../src/dev/evm/dev-evm.ts";
import { openEvmChain as openChain } from "../../src/dev/evm/open-evm.ts";
import { signDeposit } from "../../src/dev/genesis-deposits.ts";
import { EVM_WITHDRAWALS } from "../../src/dev/genesis-parameters.ts";
import { RegisteredKeys } from "../../src/dev/registered-keys.ts";
import type { StoredPayload } from "../../src/evm/engine/history.ts";
import { encodeHeader } from "../../src/evm/execution/header.ts";
import { headerOfPayload } from "../../src/evm/execution/payload.ts";
import { WITHDRAWAL_REQUESTS_ADDRESS } from "../../src/evm/execution/system-contracts.ts";
import { EvmThread } from "../../src/evm/thread/evm-thread.ts";
import { sharedReadThread } from "../../src/node/eth-reads/shared-read-thread.ts";
import { account, bytesOf, GWEI, hexOf, openEvmChain, PAYLOAD_FORKS } from "../support/chain/evm-chain.ts";
import { openFollower } from "../support/chain/follower.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { SameThreadEvm } from "../support/evm/thread/same-thread.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";
import { variants } from "../support/suite/tier.ts";

const OTHER = new Uint8Array(20).fill(0x77);
/** Stores the call value at slot 0, and deploys one STOP. */
const DEPLOYED = bytesOf("34600055600160006000396001 6000f3".replace(" ", ""));

it("executes transfers and a deployment, and rejects a payload with a wrong state root", async () => {
  const { engine, send, advance, balance, payload, chain, expectHealth } = await openEvmChain();
  expect(chain.config.DEPOSIT_CHAIN_ID).toBe(31_337);
  await send(0, { to: OTHER, value: 5n * GWEI, gasLimit: 21_000n });
  const creation = await send(1, { data: DEPLOYED, value: 7n });
  await advance(1);
  const { receipts, transactions, header } = engine.head;
  expect(transactions.map(({ hash }) => hexOf(hash))).toContain(hexOf(creation.hash));
  expect(receipts.map(({ succeeded }) => succeeded)).toEqual([true, true]);
  expect(balance(OTHER)).toBe(5n * GWEI);
  const { contractAddress } = receipts.find((receipt) => receipt.contractAddress !== undefined)!;
  const contract = engine.executor.reader.account(engine.head.world, contractAddress!)!;
  expect(engine.executor.reader.slot(contract.storage, new Uint8Array(32))).toEqual(Uint8Array.of(7));
  expect(engine.pool.size).toBe(0);

  const good = await payload();
  expect([hexOf(good.stateRoot), good.gasUsed, good.transactions.length]).toEqual([
    hexOf(header.stateRoot),
    Number(header.gasUsed),
    2,
  ]);
  // A payload with another state root and a matching block hash.
  const { message } = (await chain.blocks.signedByRoot(chain.head.root))!;
  const { executionRequests } = message.body as electra.BeaconBlockBody;
  const stored: StoredPayload = {
    fork: ForkName.fulu,
    payload: { ...good, stateRoot: new Uint8Array(32).fill(9) },
    context: { parentBeaconBlockRoot: message.parentRoot, versionedHashes: [], executionRequests },
  };
  const rehashed = { ...stored.payload, blockHash: hashOf(stored) };
  const verdict = await engine.notifyNewPayload(stored.fork, rehashed, stored.context);
  expect(verdict).toMatchObject({ status: "invalid", latestValidHash: toRootHex(good.parentHash) });
  expect(verdict).toHaveProperty("message", expect.stringMatching(/^Invalid stateRoot: got 0x0909/));
  const forged = await engine.notifyNewPayload(stored.fork, stored.payload, stored.context);
  expect(forged).toHaveProperty("message", expect.stringMatching(/^Invalid blockHash/));
  const unknown = { ...stored.payload, blockHash: new Uint8Array(32).fill(2), parentHash: new Uint8Array(32).fill(1) };
  const lost = await engine.notifyNewPayload(stored.fork, unknown, {
    ...stored.context,
    parentBeaconBlockRoot: new Uint8Array(32).fill(1),
  });
  expect(lost).toEqual({ status: "optimistic" });
  expectHealth();

  function hashOf({ payload, context }: StoredPayload): Uint8Array {
    const rules = engine.rules.at(payload.timestamp);
    const { header: original } = engine.head;
    expect(
      headerOfPayload(good, { parentBeaconBlockRoot: context.parentBeaconBlockRoot!, requests: [] }, rules),
    ).toEqual(original);
    return rules.crypto.keccak(encodeHeader({ ...original, stateRoot: payload.stateRoot }));
  }
});

describe.each(variants({ fast: PAYLOAD_FORKS.slice(0, 1), full: PAYLOAD_FORKS }))(
  "on a chain of $name",
  ({ forks, slotsToApply }) => {
    it("adds validators by deposit transactions, and processes exits requested at the contract", async () => {
      const owner = account(3);
      const receiver = new Uint8Array(20).fill(0x99);
      const { engine, devChain, send, advance, until, status, balance, call, chain, payloads, expectHealth } =
        await openEvmChain({
          forks,
          withdrawals: [
            { range: { first: 0, last: 0 }, value: { prefix: "0x01", address: hexOf(owner.address) } },
            { range: { first: 1, last: 4 }, value: { prefix: "0x01", address: hexOf(receiver) } },
          ],
        });
      const { secretKey, publicKey } = new RegisteredKeys(devChain.keys, chain).keyPair(16);
      const deposit = signDeposit(chain.config, secretKey, {
        pubkey: publicKey,
        withdrawalCredentials: new Uint8Array(32).fill(1, 0, 1),
        amount: 32e9,
      });
      const contract = chain.config.DEPOSIT_CONTRACT_ADDRESS;
      await send(0, { to: contract, data: encodeDepositCall(deposit), value: 32n * 10n ** 18n });
      await advance(1);
      expect(engine.head.receipts.map(({ succeeded }) => succeeded)).toEqual([true]);
      // The chain has the key of the next validator. Its deposit is the second one at the contract.
      const [made] = await call("dev_deposit", { count: 1 });
      expect(made).toMatchObject({ type: "deposit_request", status: "queued", data: { index: "1" } });
      await advance(1);
      expect(engine.head.receipts.map(({ succeeded }) => succeeded)).toEqual([true]);
      expect(balance(contract)).toBe(64n * 10n ** 18n);

      await advance(40);
      const data = new Uint8Array(56);
      data.set(devChain.keys.publicKey(0)!);
      await send(3, { to: WITHDRAWAL_REQUESTS_ADDRESS.bytes, data, value: 1n });
      await advance(slotsToApply);
      expect(await status(0)).toBe("active_exiting");
      await until(17, "active_ongoing");
      expect(await status(16)).toBe("active_ongoing");

      // Rewards above 32 ETH are swept to the address.
      let credited = 0n;
      for (const [, payload] of await payloads()) {
        const { withdrawals } = payload as gloas.ExecutionPayload;
        for (const { address, amount } of withdrawals) if (hexOf(address) === hexOf(receiver)) credited += amount;
      }
      expect(credited).toBeGreaterThan(0n);
      expect(balance(receiver)).toBe(credited * GWEI);
      expectHealth();
    });

    it("consolidates and withdraws by dev_* calls, which send transactions", async () => {
      const unknown = { prefix: "0x01", address: hexOf(OTHER) } as const;
      const { advance, call, engine, status, validator, nonce, expectHealth } = await openEvmChain({
        forks,
        withdrawals: [...EVM_WITHDRAWALS, { range: { first: 4, last: 6 }, value: unknown }],
      });
      await call("dev_changeCredentials", { validator: 1, type: "0x02" });
      expect(engine.pool.size).toBe(1);
      await advance(slotsToApply);
      expect((await validator(1)).validator.withdrawal_credentials).toMatch(/^0x02/);
      await advance(40);
      await call("dev_consolidate", { source: 2, target: 1 });
      await call("dev_withdraw", { validator: 3 });
      await advance(slotsToApply);
      expect([await status(2), await status(3)]).toEqual(["active_exiting", "active_exiting"]);

      // No key of the withdrawal address is known, and its rewards do not cover the fees: it is impersonated and funded.
      await call("dev_withdraw", { validator: 4 });
      await call("dev_withdraw", { validator: 5 });
      await call("dev_consolidate", { source: 6, target: 1 });
      await advance(slotsToApply);
      for (const index of [4, 5, 6]) expect(await status(index)).toBe("active_exiting");
      expect([nonce(OTHER), engine.pool.size]).toEqual([3n, 0]);
      expectHealth();
    });
  },
);

it("reverts to snapshots and dumps, each with its pool", async () => {
  const { engine, send, advance, call, balance, expectHealth } = await openEvmChain();
  await send(0, { to: OTHER, value: 1n });
  await advance(2);
  await send(0, { to: OTHER, value: 10n });
  const id = await call("dev_snapshot");
  const dump = await call("dev_dump");
  await advance(1);
  await send(0, { to: OTHER, value: 100n });
  await send(1, { to: OTHER, value: 1000n });
  await advance(1);
  await send(0, { to: OTHER, value: 10_000n });
  expect(balance(OTHER)).toBe(1111n);
  await call("dev_revert", [id]);
  expect([balance(OTHER), engine.pool.size, engine.head.header.number]).toEqual([1n, 1, 2n]);
  await advance(1);
  expect([balance(OTHER), engine.pool.size]).toEqual([11n, 0]);
  await send(0, { to: OTHER, value: 5n });
  await call("dev_load", [dump]);
  expect([balance(OTHER), engine.pool.size, engine.head.header.number]).toEqual([1n, 1, 2n]);
  await advance(1);
  expect(balance(OTHER)).toBe(11n);
  expectHealth();
});

it("continues after a crash with its state and its pool", async () => {
  const directory = tempDirectory();
  const first = await openEvmChain({}, directory);
  await first.send(0, { to: OTHER, value: 1n });
  await first.advance(40);
  await first.send(0, { to: OTHER, value: 10n });
  const stateRoot = hexOf(first.engine.head.header.stateRoot);
  await first.abandon();
  const second = await openEvmChain({}, directory);
  expect([hexOf(second.engine.head.header.stateRoot), second.engine.pool.size]).toEqual([stateRoot, 1]);
  await second.advance(1);
  expect(second.balance(OTHER)).toBe(11n);
  second.expectHealth();
  await second.close();

  await expect(openEvmChain({ evm: undefined }, directory)).rejects.toThrow("the payload builder is the EVM (--evm)");
  await expect(openEvmChain({ evm: { chainId: 5 } }, directory)).rejects.toThrow(
    "the chain id is 31337 (requested: 5)",
  );
});

it("is verified by another node with its own EVM, which rejects a payload with another result", async () => {
  const { engine, devChain, send, advance, call, chain, balance } = await openEvmChain();
  await advance(1);
  await send(0, { to: OTHER, value: 3n });
  await send(1, { data: DEPLOYED, value: 7n });
  await call("dev_deposit", { count: 1 });
  await call("dev_changeCredentials", { validator: 1, type: "0x02" });
  await advance(10);
  const db = await openDatabase(join(tempDirectory(), "beacon-db"), { sync: false });
  onTestFinished(() => db.close());
  await initialiseDatabase(db, devChain.config, { state: (await chain.states.genesis())! }, {});
  const sameThread = new SameThreadEvm();
  const other = new EvmThread({
    logger: createRecordingLogger(),
    startWorker: sameThread.startWorker,
    reads: sharedReadThread(),
  });
  onTestFinished(() => other.stop());
  expect(await openChain(other, devChain.config)).toBe(true);
  const follower = await openFollower(db, devChain, chain.clock.currentSlot, other);
  onTestFinished(() => follower.close());
  const evm = new DevEvm(other, { chain: follower, db, hasNetwork: true });
  const blocks: SignedBeaconBlock[] = [];
  for (let slot = 1; slot <= 11; slot++) blocks.push((await chain.blocks.canonicalAtSlot(slot))!.signed);
  await follower.importSegment(blocks);
  expect(follower.head.execution.status).toBe("valid");
  await evm.restore();
  const { head } = sameThread.engine;
  expect(hexOf(head.hash)).toBe(hexOf(engine.head.hash));
  expect(balance(OTHER, head)).toBe(3n);
  expect(follower.head.root).toBe(chain.head.root);

  // The first node builds on a state of its own.
  const { rules } = engine;
  const { stateRoot } = engine.head.header;
  const build = engine.getPayload.bind(engine);
  vi.spyOn(engine, "getPayload").mockImplementation(async (fork, id) => {
    const built = await build(fork, id);
    const { header } = engine.blocks.get(toRootHex(built.payload.blockHash))!;
    const blockHash = rules.at(header.timestamp).crypto.keccak(encodeHeader({ ...header, stateRoot }));
    return { ...built, payload: { ...built.payload, stateRoot, blockHash } };
  });
  vi.spyOn(engine, "notifyNewPayload").mockResolvedValue({ status: "valid" });
  // An empty payload was built ahead.
  await send(0, { to: OTHER, value: 1n });
  await advance(1);
  const forged = (await chain.blocks.canonicalAtSlot(12))!.signed;
  await (follower.clock as VirtualClock).advanceTo(12);
  await expect(follower.importBlock(forged)).rejects.toMatchObject({
    reason: "invalid-payload",
    message: expect.stringContaining("Invalid stateRoot"),
  });
  expect(follower.head.root).toBe(toRootHex(forged.message.parentRoot));
});

it("needs a chain that starts in bellatrix or later", async () => {
  const phase0 = openEvmChain({ forks: [] });
  await expect(phase0).rejects.toThrow("A chain with --evm has to start in bellatrix or a later fork");
  const { advance, call, error, engine, expectHealth } = await openEvmChain({
    forks: [
      { fork: "bellatrix", epoch: 0 },
      { fork: "capella", epoch: 1 },
      { fork: "deneb", epoch: 2 },
      { fork: "electra", epoch: 3 },
      { fork: "fulu", epoch: 4 },
    ],
  });
  await advance(23);
  // Electra has begun, but has no block yet.
  await call("dev_skip", { slots: 1 });
  expect(await error("dev_changeCredentials", { validator: 1, type: "0x02" })).toMatchObject({
    message: expect.stringContaining("advance the chain by a slot first"),
  });
  await advance(17);
  expect(engine.head.header.number).toBe(40n);
  expectHealth();
});
