import { ClassicLevel } from "classic-level";
import { expect, it, onTestFinished, vi } from "vitest";
import { Bucket } from "../../src/db/keys.ts";
import { hexOf, openEvmChain } from "../support/chain/evm-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const RECEIVER = new Uint8Array(20).fill(0x77);
const ACKNOWLEDGED_SLOTS = 20;

type EvmChain = Awaited<ReturnType<typeof openEvmChain>>;

/** Fails every write to the database with an entry of that name. */
function failWrites(prefix: string): () => void {
  const isOfKind = ({ key }: { key: Uint8Array }) =>
    key[0] === Bucket.meta && new TextDecoder().decode(key.subarray(1)).startsWith(`free/${prefix}`);
  const { batch } = ClassicLevel.prototype;
  const writing = vi.spyOn(ClassicLevel.prototype, "batch").mockImplementation(function (
    this: ClassicLevel,
    ...args: unknown[]
  ) {
    if ((args[0] as { key: Uint8Array }[]).some(isOfKind)) {
      throw Object.assign(new Error("No space left"), { code: "LEVEL_IO_ERROR" });
    }
    return Reflect.apply(batch, this, args);
  });
  onTestFinished(() => writing.mockRestore());
  return () => writing.mockRestore();
}

it.each<[kind: string, prefix: string, run: (chain: EvmChain) => Promise<void>]>([
  [
    "a pooled transaction",
    "evmPool/",
    async ({ sign, error, pooled }) => {
      const raw = hexOf(sign(1, { to: RECEIVER, value: 10n }));
      expect(await error("eth_sendRawTransaction", [raw])).toMatchObject({ code: -32603 });
      expect(await pooled()).toBe(0);
    },
  ],
  [
    "an override",
    "evmOverrides/",
    async ({ error }) => {
      expect(await error("anvil_setBalance", [hexOf(RECEIVER), "0x64"])).toMatchObject({ code: -32603 });
    },
  ],
  ["finalized blocks", "evmBlocks/", async ({ call }) => call("dev_advance", { epochs: 3 }).catch(() => {})],
])("a full disk that takes no write of %s stops the node, and nothing acknowledged is lost", async (_, prefix, run) => {
  const directory = tempDirectory();
  const first = await openEvmChain({}, directory);
  await first.send(0, { to: RECEIVER, value: 1n });
  await first.advance(ACKNOWLEDGED_SLOTS);
  const { promise: failed, resolve } = Promise.withResolvers<unknown>();
  first.node.onFailure(resolve);
  const restoreWrites = failWrites(prefix);
  await run(first);
  expect(await failed).toMatchObject({ kind: "dataDirFailed", message: expect.stringContaining("No space left") });
  await first.abandon();
  restoreWrites();

  const second = await openEvmChain({}, directory);
  expect(second.chain.head.slot).toBeGreaterThanOrEqual(ACKNOWLEDGED_SLOTS);
  expect([second.balance(RECEIVER), second.engine.pool.size]).toEqual([1n, 0]);
  await second.send(0, { to: RECEIVER, value: 1n });
  await second.advance(1);
  expect(second.balance(RECEIVER)).toBe(2n);
  second.expectHealth();
});
