import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { attachDevChain, createClient, type DevChain, startDevChain } from "../../src/library/index.ts";

const CONFIG = { SHARD_COMMITTEE_PERIOD: 0, MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1 };
const POOL = `0x02:0x${"5b".repeat(20)}`;

describe("waiting for the status of a validator", () => {
  let chain: DevChain<"fulu">;
  beforeAll(async () => {
    chain = await startDevChain({ validators: 16, withdrawalCredentials: POOL, config: CONFIG, evm: false });
  });
  afterAll(() => chain.stop());

  it("ends at a later status of the same path", async () => {
    const source = chain.validator(3);
    await source.consolidateInto(4);
    await chain.advanceUntil({ validator: 3, status: "exited_unslashed" });
    // The last epoch transition moves the balance, so withdrawal_possible is never seen.
    await chain.advanceUntil({ validator: 3, status: "withdrawal_possible" });
    expect(await source.status()).toBe("withdrawal_done");
  });

  it("fails at once for a status that lies behind", async () => {
    const { slot } = await chain.client.getChainTime();
    await expect(chain.advanceUntil({ validator: 3, status: "withdrawal_possible" })).rejects.toThrow(
      "Validator 3 is withdrawal_done and can no longer become withdrawal_possible. This is its last status.",
    );
    const { pubkey } = (await chain.validator(5).get()).validator;
    await expect(chain.advanceUntil({ validator: pubkey, status: "pending_queued" })).rejects.toThrow(
      "Validator 5 is active_ongoing and can no longer become pending_queued. " +
        "Its next statuses are active_exiting, exited_unslashed, withdrawal_possible, withdrawal_done.",
    );
    expect((await chain.client.getChainTime()).slot).toBe(slot);
  });

  it("fails as soon as the path leaves the status aside", async () => {
    await chain.validator(7).slash();
    await expect(chain.advanceUntil({ validator: 7, status: "exited_unslashed" })).rejects.toThrow(
      "Validator 7 is active_slashed and can no longer become exited_unslashed. " +
        "Its next statuses are exited_slashed, withdrawal_possible, withdrawal_done.",
    );
    await chain.validator(8).exit();
    await expect(chain.advanceUntil({ validator: 8, status: "active_slashed" })).rejects.toThrow(
      "Validator 8 is exited_unslashed and can no longer become active_slashed.",
    );
  });

  it("fails after its time limit, and says what holds", async () => {
    const never = chain.advanceUntil({ validator: 9, status: "exited_unslashed" }, { timeoutSeconds: 0.001 });
    await expect(never).rejects.toThrow(
      /^The condition does not hold after 0\.001 seconds and \d+ slots, at slot \d+: validator 9 is active_ongoing, not exited_unslashed\. timeout_seconds, or timeoutSeconds in the library, raises the limit\.$/,
    );
    const error =
      /^Only \d+ of 2000 slots passed within 0\.001 seconds\. timeout_seconds, or timeoutSeconds in the library, raises the limit\.$/;
    await expect(chain.advance({ slots: 2000 }, { timeoutSeconds: 0.001 })).rejects.toThrow(error);
    await expect(chain.skip({ slots: 2000 }, { timeoutSeconds: 0.001 })).rejects.toThrow(error);
  });
});

describe("a call whose caller goes away", () => {
  const FAR = { slot: 60_000 };
  const LONG = { timeoutSeconds: 3600 };

  /** Starts a chain, whose slots `untilSlot` follows. */
  async function start() {
    const chain = await startDevChain({ validators: 8, evm: false, rpc: 0 });
    onTestFinished(() => chain.stop());
    const untilSlot = async (slot: number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { unsubscribe } = await chain.client.subscribe(["head"], ({ data }) => {
        if (Number(data.slot) >= slot) resolve();
      });
      await promise;
      await unsubscribe();
    };
    return { chain, untilSlot };
  }

  /** The next call waits for the slots of the one before. */
  async function expectStopped(chain: DevChain) {
    const { slot } = await chain.advance({ slots: 1 });
    expect(Number(slot)).toBeLessThan(FAR.slot);
    expect(await chain.client.getChainTime()).toMatchObject({ slot });
  }

  it.each<[string, (chain: DevChain, signal: AbortSignal) => Promise<unknown>]>([
    ["advanceUntil", (chain, signal) => chain.advanceUntil(FAR, { ...LONG, signal })],
    ["advance", (chain, signal) => chain.advance({ slots: 60_000 }, { signal })],
    ["evm_mine", (chain, signal) => chain.client.call("anvil_mine", { blocks: "0xea60" }, { signal })],
    ["dev_fork", (chain, signal) => chain.client.dev_fork({ slots: 1024 }, { signal })],
  ])("stops %s at the abort of a signal", async (_, call) => {
    const { chain, untilSlot } = await start();
    await chain.advance({ slots: 2 });
    const caller = new AbortController();
    const running = call(chain, caller.signal);
    const rejected = expect(running).rejects.toThrow("The test has ended.");
    await untilSlot(4);
    caller.abort(new Error("The test has ended."));
    await rejected;
    await expectStopped(chain);
  });

  it("stops when the HTTP connection closes", async () => {
    const { chain, untilSlot } = await start();
    const attached = attachDevChain({ url: chain.url! });
    const rejected = expect(attached.advanceUntil(FAR, LONG)).rejects.toThrow("closed");
    await untilSlot(4);
    await attached.stop();
    await rejected;
    await expectStopped(chain);
  });

  it("stops when the WebSocket closes", async () => {
    const { chain, untilSlot } = await start();
    const client = createClient({ url: chain.url!.replace("http", "ws") });
    const rejected = expect(client.dev_advance({ until: FAR, timeout_seconds: 3600 })).rejects.toThrow("closed");
    await untilSlot(4);
    await client.close();
    await rejected;
    await expectStopped(chain);
  });

  it("stops with the chain", async () => {
    const { chain, untilSlot } = await start();
    const rejected = expect(chain.advanceUntil(FAR, LONG)).rejects.toThrow("The chain is stopped.");
    await untilSlot(4);
    await chain.stop();
    await rejected;
  });
});
