import { Address, createAddressFromPrivateKey } from "@ethereumjs/util";
import { beforeEach, describe, expect, it } from "vitest";
import {
  addressOf,
  bytesOf,
  fundedKeys,
  GWEI,
  hexOf,
  optionsOf,
  SLOT_SECONDS,
  TestChain,
} from "../../../test/support/evm/evm.ts";
import { blobBaseFee } from "../execution/fees.ts";
import type { ExecutionFork } from "../execution/forks.ts";
import { PoolError } from "./pool-error.ts";
import { joinSidecar, type Sidecar, splitSidecar, versionedHashOf } from "./sidecar.ts";
import { type PoolLimits, TransactionPool } from "./transaction-pool.ts";

const to = new Address(addressOf(1));
const ETHER = 10n ** 18n;
/** Proofs are valid unless their first byte is 0xff. */
const kzg = { verify: async ({ proofs }: Sidecar) => proofs.every(([first]) => first !== 0xff) };

function sidecarOf(seeds: readonly number[], version: 0 | 1): Sidecar {
  return {
    version,
    blobs: seeds.map((seed) => new Uint8Array(131_072).fill(seed)),
    commitments: seeds.map((seed) => new Uint8Array(48).fill(seed)),
    proofs: seeds.flatMap((seed) =>
      Array.from({ length: version === 1 ? 128 : 1 }, () => new Uint8Array(48).fill(seed)),
    ),
  };
}

describe("transaction pool", () => {
  let chain: TestChain;
  let pool: TransactionPool;

  const nextTimestamp = () => Number(chain.head.header.timestamp) + SLOT_SECONDS;

  async function open(fork: ExecutionFork = "osaka", limits: Partial<PoolLimits> = {}): Promise<void> {
    chain = await TestChain.open(optionsOf(fork));
    pool = new TransactionPool({ rules: chain.rules, kzg, limits }, chain.head, nextTimestamp());
  }

  const transfer = (account: number, fields: Record<string, unknown> = {}) =>
    chain.signRaw(account, { to, gasLimit: 21_000n, ...fields });
  const priced = (account: number, gwei: bigint, fields: Record<string, unknown> = {}) =>
    transfer(account, { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: gwei * GWEI, ...fields });
  const nonces = () => [...pool.pending(GWEI)].map(({ tx, sender }) => `${indexOf(sender)}/${tx.nonce}`);
  const indexOf = (sender: Address) =>
    fundedKeys().findIndex((key) => createAddressFromPrivateKey(key).toString() === sender.toString());

  function blobs(account: number, sidecar: Sidecar, fields: Record<string, unknown> = {}): Uint8Array {
    const blobVersionedHashes = sidecar.commitments.map((commitment) => `0x${hexOf(versionedHashOf(commitment))}`);
    const raw = transfer(account, { type: 3, blobVersionedHashes, maxFeePerBlobGas: GWEI, ...fields });
    return joinSidecar({ raw, sidecar });
  }

  async function refusal(sent: Uint8Array): Promise<string> {
    return pool.add(sent).then(
      () => "accepted",
      (error: unknown) => (error instanceof PoolError ? error.message : Promise.reject(error)),
    );
  }

  /** Builds a block from the pool, and makes it the head of both the chain and the pool. */
  async function buildBlock(): Promise<void> {
    const { baseFeePerGas, excessBlobGas = 0n } = chain.executor.environmentOf(chain.head, chain.attributes());
    const { blobs: parameters } = chain.rules.at(nextTimestamp());
    await chain.build([...pool.pending(baseFeePerGas, parameters && blobBaseFee(excessBlobGas, parameters))]);
    pool.setHead(chain.head, nextTimestamp());
  }

  beforeEach(async () => {
    await open();
  });

  it("accepts all types, and blocks include them", async () => {
    await pool.add(transfer(0, { type: 0 }));
    await pool.add(transfer(0, { type: 1 }));
    await pool.add(transfer(0, { type: 2 }));
    await pool.add(blobs(1, sidecarOf([1, 2], 1)));
    await pool.add(transfer(2, { type: 4, gasLimit: 100_000n, authorizationList: [authorization()] }));
    expect(pool.counts()).toEqual({ pending: 5, queued: 0 });
    await buildBlock();
    expect(chain.head.transactions.map(({ tx }) => tx.type).sort()).toEqual([0, 1, 2, 3, 4]);
    expect(pool.size).toBe(0);
  });

  const authorization = () => ({
    chainId: "0x7a69",
    address: `0x${hexOf(addressOf(1))}`,
    nonce: "0x0",
    yParity: "0x1",
    r: `0x${"11".repeat(32)}`,
    s: `0x${"12".repeat(32)}`,
  });

  it("rejects with geth's messages", async () => {
    const known = transfer(0);
    await pool.add(known);
    expect(await refusal(known)).toBe("already known");
    expect(await refusal(transfer(1, { value: 20_000n * ETHER }))).toMatch(
      /^insufficient funds for gas \* price \+ value: balance 10000000000000000000000, tx cost \d+, overshot \d+$/,
    );
    expect(await refusal(transfer(1, { gasLimit: 20_999n }))).toBe(
      "intrinsic gas too low: gas 20999, minimum needed 21000",
    );
    expect(await refusal(transfer(1, { gasLimit: 22_600n, data: new Uint8Array(100).fill(1) }))).toMatch(
      /^insufficient gas for floor data gas cost: gas 22600, minimum needed 25000$/,
    );
    expect(await refusal(Uint8Array.of(5, 0xc0))).toMatch(/^transaction type not supported/);
    expect(await refusal(Uint8Array.of(0xc0))).toMatch(/^invalid transaction/);
    expect(await refusal(Uint8Array.of(0x03, 0x01))).toMatch(/^invalid transaction/);
    expect(await refusal(transfer(1, { gasLimit: 16_000_000n, data: new Uint8Array(129 * 1024) }))).toMatch(
      /^oversized data: transaction size \d+, limit 131072$/,
    );
    await buildBlock();
    expect(await refusal(transfer(0, { nonce: 0n }))).toBe("nonce too low: next nonce 1, tx nonce 0");
    await open("prague");
    expect(await refusal(transfer(1, { gasLimit: 30_000_001n }))).toBe(
      "exceeds block gas limit: limit 30000000, tx gas 30000001",
    );
    const foreign = await TestChain.open({ ...optionsOf("osaka"), chainId: 5 });
    const wrongChain = "invalid sender: invalid chain id for signer: have 5 want 31337";
    expect(await refusal(foreign.signRaw(0, { to, chainId: 5 } as never))).toBe(wrongChain);
    expect(await refusal(foreign.signRaw(0, { to, type: 0, chainId: 5 } as never))).toBe(wrongChain);
  });

  it("rejects fees below the minimum base fee", async () => {
    const fees = { maxFeePerGas: 6n, maxPriorityFeePerGas: 0n };
    expect(await refusal(transfer(0, fees))).toBe("transaction underpriced: gas fee cap 6, minimum needed 7");
    expect(await refusal(transfer(0, { type: 0, gasPrice: 0n }))).toMatch(/^transaction underpriced: gas fee cap 0/);
    expect(await refusal(blobs(0, sidecarOf([1], 1), { maxFeePerBlobGas: 0n }))).toBe(
      "transaction underpriced: blob fee cap 0, minimum needed 1",
    );
    expect(await refusal(transfer(0, { ...fees, maxFeePerGas: 7n, nonce: 0n }))).toBe("accepted");
  });

  it("replaces a transaction for a tip and a fee that are 10 % higher", async () => {
    await pool.add(priced(0, 10n, { nonce: 0n }));
    expect(await refusal(priced(0, 20n, { nonce: 0n, maxFeePerGas: 109n * GWEI }))).toMatch(
      /^replacement transaction underpriced/,
    );
    expect(await refusal(priced(0, 10n, { nonce: 0n, maxFeePerGas: 110n * GWEI }))).toMatch(
      /^replacement transaction underpriced/,
    );
    await pool.add(priced(0, 11n, { nonce: 0n, maxFeePerGas: 110n * GWEI }));
    expect(
      [...pool.pending(GWEI)].map(({ tx }) => (tx as { maxPriorityFeePerGas?: bigint }).maxPriorityFeePerGas),
    ).toEqual([11n * GWEI]);
  });

  it("replaces a blob transaction for twice its prices", async () => {
    await pool.add(blobs(0, sidecarOf([1], 1), { nonce: 0n }));
    const twice = { maxFeePerGas: 40n * GWEI, maxPriorityFeePerGas: 4n * GWEI };
    expect(await refusal(blobs(0, sidecarOf([2], 1), { nonce: 0n, ...twice }))).toMatch(/^replacement transaction/);
    expect(pool.blob(versionedHashOf(new Uint8Array(48).fill(1)))?.index).toBe(0);
    await pool.add(blobs(0, sidecarOf([2], 1), { nonce: 0n, ...twice, maxFeePerBlobGas: 2n * GWEI }));
    expect(pool.blob(versionedHashOf(new Uint8Array(48).fill(1)))).toBeUndefined();
    expect(pool.blob(versionedHashOf(new Uint8Array(48).fill(2)))?.sidecar.blobs.length).toBe(1);
  });

  it("queues transactions after a nonce gap until it is filled", async () => {
    await pool.add(transfer(0, { nonce: 0n }));
    await pool.add(transfer(0, { nonce: 2n }));
    await pool.add(transfer(0, { nonce: 3n }));
    const sender = createAddressFromPrivateKey(fundedKeys()[0]!);
    expect(pool.counts()).toEqual({ pending: 1, queued: 2 });
    expect(pool.nextNonce(sender.bytes)).toBe(1n);
    const content = pool.content().get(sender.toString());
    expect(content?.pending.map(({ nonce }) => nonce)).toEqual([0n]);
    expect(content?.queued.map(({ nonce }) => nonce)).toEqual([2n, 3n]);
    await pool.add(transfer(0, { nonce: 1n }));
    expect(nonces()).toEqual(["0/0", "0/1", "0/2", "0/3"]);
    expect(pool.nextNonce(sender.bytes)).toBe(4n);
    await buildBlock();
    expect(pool.size).toBe(0);
    expect(pool.nextNonce(sender.bytes)).toBe(4n);
  });

  it("counts the cost of all transactions of a sender", async () => {
    await pool.add(transfer(0, { value: 9_000n * ETHER, nonce: 0n }));
    expect(await refusal(transfer(0, { value: 1_500n * ETHER, nonce: 1n }))).toMatch(/queued cost \d+, tx cost/);
    await pool.add(transfer(0, { value: 500n * ETHER, nonce: 1n }));
    await pool.add(
      transfer(0, { value: 9_400n * ETHER, nonce: 0n, maxFeePerGas: 22n * GWEI, maxPriorityFeePerGas: 3n * GWEI }),
    );
    expect(pool.size).toBe(2);
  });

  it("orders by effective tip at the base fee, each sender by nonce, equal tips by arrival", async () => {
    await pool.add(priced(0, 1n));
    await pool.add(priced(0, 50n));
    await pool.add(priced(1, 5n));
    await pool.add(priced(2, 5n));
    await pool.add(priced(3, 40n, { maxFeePerGas: 41n * GWEI }));
    expect(nonces()).toEqual(["3/0", "1/0", "2/0", "0/0", "0/1"]);
    // At a base fee of 40 gwei, account 3 has 1 gwei left for the tip; at 42 gwei, nothing is left.
    expect([...pool.pending(40n * GWEI)].map(({ sender }) => indexOf(sender))).toEqual([1, 2, 0, 0, 3]);
    expect([...pool.pending(42n * GWEI)].map(({ sender }) => indexOf(sender))).toEqual([1, 2, 0, 0]);
    expect([...pool.pending(101n * GWEI)]).toEqual([]);
  });

  it("skips transactions below the blob base fee", async () => {
    await pool.add(blobs(0, sidecarOf([1], 1)));
    expect([...pool.pending(GWEI, GWEI)].length).toBe(1);
    expect([...pool.pending(GWEI, GWEI + 1n)].length).toBe(0);
  });

  it("limits the transactions of a sender", async () => {
    await open("osaka", { perSender: 2 });
    await pool.add(transfer(0));
    await pool.add(transfer(0));
    expect(await refusal(transfer(0))).toBe("account limit exceeded: pooled 2 txs");
    await pool.add(transfer(1));
  });

  it("evicts queued transactions first, then the cheapest ones", async () => {
    await open("osaka", { transactions: 4 });
    await pool.add(priced(0, 9n, { nonce: 5n }));
    await pool.add(priced(1, 1n));
    await pool.add(priced(2, 3n));
    await pool.add(priced(2, 2n));
    await pool.add(priced(3, 4n));
    expect(nonces()).toEqual(["3/0", "2/0", "2/1", "1/0"]);
    await pool.add(priced(4, 5n));
    expect(nonces()).toEqual(["4/0", "3/0", "2/0", "2/1"]);
    expect(await refusal(priced(5, 1n))).toMatch(/^transaction underpriced/);
    expect(nonces()).toEqual(["4/0", "3/0", "2/0", "2/1"]);
  });

  it("limits bytes and blobs", async () => {
    await open("osaka", { bytes: 200 * 1024, blobs: 2 });
    const large = (account: number, tip: bigint) =>
      priced(account, tip, { data: new Uint8Array(100 * 1024), gasLimit: 8_000_000n });
    await pool.add(large(0, 2n));
    expect(await refusal(large(1, 1n))).toMatch(/^transaction underpriced/);
    await pool.add(large(4, 3n));
    expect(nonces()).toEqual(["4/0"]);
    await pool.add(blobs(2, sidecarOf([1, 2], 1)));
    await pool.add(blobs(3, sidecarOf([3], 1), { maxPriorityFeePerGas: 5n * GWEI }));
    expect(nonces()).toEqual(["3/0", "4/0"]);
  });

  it("drops transactions that the head invalidates", async () => {
    await pool.add(transfer(0, { nonce: 0n, value: 6_000n * ETHER }));
    await pool.add(transfer(1, { nonce: 0n }));
    // Another node's block spends the funds.
    await chain.build([
      chain.sign(0, { nonce: 0n, to, value: 9_000n * ETHER }),
      chain.sign(1, { nonce: 0n, to, value: 1n }),
    ]);
    pool.setHead(chain.head, nextTimestamp());
    expect(pool.size).toBe(0);
    await pool.add(transfer(0, { nonce: 2n, value: 900n * ETHER }));
    await chain.build([chain.sign(0, { nonce: 1n, to, value: 900n * ETHER })]);
    pool.setHead(chain.head, nextTimestamp());
    expect(pool.size).toBe(0);
  });

  it("restores the transactions of reorged blocks, with their blobs", async () => {
    const genesis = chain.head;
    await pool.add(transfer(0));
    await pool.add(blobs(1, sidecarOf([7], 1)));
    await buildBlock();
    const lost = chain.head;
    expect(pool.size).toBe(0);
    expect(pool.sidecarOf(lost.transactions.find(({ tx }) => tx.type === 3)!.hash)?.blobs.length).toBe(1);
    chain.head = await chain.executor.build(genesis, { ...chain.attributes({}, genesis), feeRecipient: addressOf(3) });
    pool.setHead(chain.head, nextTimestamp(), lost.transactions);
    expect(pool.counts()).toEqual({ pending: 2, queued: 0 });
    await buildBlock();
    expect(chain.head.transactions.length).toBe(2);
  });

  it("keeps blobs of included transactions within a limit", async () => {
    await open("osaka", { includedBlobs: 3 });
    for (const seed of [1, 2, 3, 4]) {
      await pool.add(blobs(0, sidecarOf([seed], 1)));
      await buildBlock();
    }
    const isKept = (seed: number) => pool.blob(versionedHashOf(new Uint8Array(48).fill(seed))) !== undefined;
    expect([1, 2, 3, 4].map(isKept)).toEqual([false, true, true, true]);
  });

  it("checks sidecars", async () => {
    const sidecar = sidecarOf([1], 1);
    expect(await refusal(splitSidecar(blobs(0, sidecar, { nonce: 0n })).raw)).toBe(
      "missing sidecar in blob transaction",
    );
    expect(await refusal(blobs(0, sidecarOf([0xff], 1), { nonce: 0n }))).toBe("invalid blob proof");
    expect(await refusal(blobs(0, sidecarOf([1], 0), { nonce: 0n }))).toBe(
      "unexpected blob sidecar: version 0, want 1",
    );
    const swapped = { ...sidecar, commitments: [new Uint8Array(48).fill(2)] };
    const { raw } = splitSidecar(blobs(0, sidecar, { nonce: 0n }));
    expect(await refusal(joinSidecar({ raw, sidecar: swapped }))).toMatch(/^blob versioned hash mismatch/);
    expect(await refusal(joinSidecar({ raw, sidecar: { ...sidecar, proofs: [] } }))).toMatch(
      /^invalid blob proof: 1 blobs/,
    );
    expect(await refusal(blobs(0, sidecar, { nonce: 1n }))).toBe("nonce too high: tx nonce 1, gapped nonce 0");
    await open("prague");
    expect(await refusal(blobs(0, sidecarOf([1], 0), { nonce: 0n }))).toBe("accepted");
  });

  it("upgrades sidecars of version 0 since Osaka if it can", async () => {
    const upgrade = async ({ blobs }: Sidecar) =>
      sidecarOf(
        blobs.map(([seed]) => seed!),
        1,
      );
    pool = new TransactionPool({ rules: chain.rules, kzg: { ...kzg, upgrade } }, chain.head, nextTimestamp());
    const { transaction } = await pool.add(blobs(0, sidecarOf([1], 0)));
    expect(pool.sidecarOf(transaction.hash)?.version).toBe(1);
  });

  it("drops transactions that a new fork does not allow", async () => {
    chain = await TestChain.open(optionsOf("prague", { osaka: 1_000_000 + 3 * SLOT_SECONDS }));
    pool = new TransactionPool({ rules: chain.rules, kzg }, chain.head, nextTimestamp());
    await pool.add(blobs(0, sidecarOf([1], 0)));
    await pool.add(transfer(1, { gasLimit: 20_000_000n }));
    await pool.add(transfer(2));
    await chain.build();
    pool.setHead(chain.head, nextTimestamp());
    expect(pool.size).toBe(3);
    await chain.build();
    pool.setHead(chain.head, nextTimestamp());
    expect(nonces()).toEqual(["2/0"]);
  });

  it("encodes its transactions for the network", async () => {
    const sent = [transfer(0), blobs(1, sidecarOf([1], 1)), transfer(0)];
    for (const bytes of sent) await pool.add(bytes);
    expect(pool.encode()).toEqual(sent);
    expect(pool.drop(bytesOf("00".repeat(32)))).toBe(false);
    pool.clear();
    expect(pool.size).toBe(0);
  });
});
