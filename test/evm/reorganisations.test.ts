import { describe, expect, it } from "vitest";
import { account, bytesOf, hexOf, openEvmChain, PAYLOAD_FORKS } from "../support/chain/evm-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const RECEIVER = new Uint8Array(20).fill(0x77);
/** Stores the call value at slot 0, and deploys one STOP. */
const DEPLOYED = bytesOf("346000556001600060003960016000f3");

describe.each(PAYLOAD_FORKS)("a chain of $name", ({ forks }) => {
  it("includes transactions of orphaned blocks again, at depths 1, 3 and 10", async () => {
    const { send, advance, call, balance, nonce, pooled, included, expectHealth } = await openEvmChain({ forks });
    await advance(1);
    for (const depth of [1, 3, 10]) {
      const snapshot = await call("dev_snapshot");
      const sent = [];
      for (let block = 1; block <= depth; block++) {
        sent.push(await send(0, { to: RECEIVER, value: 1n }), await send(0, { to: RECEIVER, value: 10n }));
        sent.push(await send(1, { data: DEPLOYED, value: 7n }));
        await advance(1);
      }
      // Waits for a nonce that is used last.
      const late = await send(2, { to: RECEIVER, value: 100n, nonce: 1n });
      expect([await pooled(), await balance(RECEIVER)]).toEqual([1, BigInt(depth) * 11n]);
      const { slots } = await call("dev_reorg", { depth });
      expect(Number(slots)).toBeGreaterThanOrEqual(1);

      const chain = await included();
      expect([...chain].sort()).toEqual(sent.map(({ raw }) => hexOf(raw)).sort());
      expect([await pooled(), await balance(RECEIVER)]).toEqual([1, BigInt(depth) * 11n]);
      expect(await nonce(account(0).address)).toBe(BigInt(depth) * 2n);
      expect(await nonce(account(1).address)).toBe(BigInt(depth));
      await send(0, { to: RECEIVER, value: 1000n });
      await send(2, { to: RECEIVER, value: 1n });
      await advance(1);
      expect(await included()).toContain(hexOf(late.raw));
      expect([await pooled(), await balance(RECEIVER)]).toEqual([0, BigInt(depth) * 11n + 1101n]);
      await call("dev_revert", [snapshot]);
      expect([await pooled(), await balance(RECEIVER), await nonce(account(0).address)]).toEqual([0, 0n, 0n]);
    }
    expectHealth();
  });

  it("includes transactions in both branches of a fork, and keeps the pool at the head", async () => {
    const { send, advance, call, balance, pooled, included, expectHealth } = await openEvmChain({ forks });
    await advance(2);
    await send(0, { to: RECEIVER, value: 1n });
    await advance(1);
    // Both branches grow. New transactions go to both.
    await call("dev_fork", { depth: 1, slots: 3, votes: "old" });
    await send(0, { to: RECEIVER, value: 10n });
    const { head } = await call("dev_fork", { slots: 2, votes: "old" });
    expect([head, await balance(RECEIVER)]).toEqual(["old", 11n]);
    const won = await call("dev_fork", { slots: 8, votes: "new" });
    expect([won.head, await balance(RECEIVER), await pooled()]).toEqual(["new", 11n, 0]);
    await send(0, { to: RECEIVER, value: 100n });
    await advance(1);
    expect(await balance(RECEIVER)).toBe(111n);
    expect(await included()).toHaveLength(3);
    expectHealth();
  });

  it("leaves out a reverted transaction and includes one sent after the revert", async () => {
    const { send, advance, call, balance, pooled, expectHealth } = await openEvmChain({ forks });
    await advance(1);
    const snapshot = await call("dev_snapshot");
    await send(0, { to: RECEIVER, value: 1n, nonce: 0n });
    await advance(1);
    await call("dev_revert", [snapshot]);
    await send(0, { to: RECEIVER, value: 10n, nonce: 0n });
    await advance(1);
    expect([await pooled(), await balance(RECEIVER)]).toEqual([0, 10n]);
    expectHealth();
  });

  it("includes pooled transactions after skipped slots", async () => {
    const { send, advance, call, balance, pooled, payload, chain, expectHealth } = await openEvmChain({ forks });
    await advance(1);
    await send(0, { to: RECEIVER, value: 1n });
    await call("dev_skip", { slots: 20 });
    expect([await pooled(), await balance(RECEIVER)]).toEqual([1, 0n]);
    await send(0, { to: RECEIVER, value: 10n });
    await advance(1);
    const { timestamp, blockNumber } = await payload();
    expect([timestamp, blockNumber]).toEqual([chain.genesis.time + 22 * chain.config.SECONDS_PER_SLOT, 2]);
    expect([await pooled(), await balance(RECEIVER)]).toEqual([0, 11n]);
    await call("dev_reorg", { depth: 1 });
    expect([await pooled(), await balance(RECEIVER)]).toEqual([0, 11n]);
    expectHealth();
  });

  it("keeps the newest block and its transactions after a restart: it is not late", async () => {
    const directory = tempDirectory();
    for (const end of ["close", "abandon"] as const) {
      const first = await openEvmChain({ forks }, directory);
      await first.devChain.run();
      await first.advance(2);
      const { raw } = await first.send(0, { to: RECEIVER, value: 1n });
      await first.advance(1);
      const { root } = first.chain.head;
      await first[end]();
      const second = await openEvmChain({ forks }, directory);
      await second.devChain.run();
      // The block that the execution engine follows.
      await second.chain.pendingVerdicts.untilHeadVerdict();
      expect([second.chain.head.root, await second.pooled()]).toEqual([root, 0]);
      await second.advance(1);
      expect([second.chain.head.parentRoot, (await second.slotsOf(raw)).length]).toEqual([root, 1]);
      second.expectHealth();
      await second.close();
    }
  });
});
