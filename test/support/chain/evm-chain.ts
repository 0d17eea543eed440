import { createTx, type TypedTxData } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostDeneb, isForkPostFulu } from "@lodestar/params";
import type { ExecutionPayload, Slot } from "@lodestar/types";
import { canonicalChild, hasCanonicalPayload } from "../../../src/api/payload-of-block.ts";
import { bidOf } from "../../../src/chain/blocks/bid.ts";
import type { ChainBlock } from "../../../src/chain/blocks/block-store.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import { DevBlobs } from "../../../src/dev/dev-blobs.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { EVM_WITHDRAWALS } from "../../../src/dev/genesis-parameters.ts";
import { type DevAccount, devAccountKeys } from "../../../src/evm/accounts.ts";
import type { EvmEngine } from "../../../src/evm/engine/evm-engine.ts";
import type { ExecutedBlock } from "../../../src/evm/execution/block.ts";
import { joinSidecar } from "../../../src/evm/pool/sidecar.ts";
import { versionedHashesOf } from "../../../src/execution/engine.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { sharedKzg as kzg } from "../data/kzg/shared-kzg.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { SameThreadEvm } from "../evm/thread/same-thread.ts";
import { FULU, openControlled } from "./controlled-chain.ts";
import { GLOAS } from "./gloas-chain.ts";

export const GWEI = 10n ** 9n;
export const EVM: Pick<DevNodeOptions, "evm" | "withdrawals"> = {
  evm: { chainId: 31_337 },
  withdrawals: EVM_WITHDRAWALS,
};
export const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.replace(/^0x/, ""), "hex"));
export const hexOf = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`;
export const account = (index: number): DevAccount => devAccountKeys()[index]!;

/** Fields of any type of transaction. Nonce, fees and gas limit have defaults. */
type Fields = Record<string, unknown> & { type?: number };

/** Forks of the tests of both kinds of payloads, and after how many slots the requests of transactions are applied. */
export const PAYLOAD_FORKS: { name: string; forks: ScheduledFork[]; slotsToApply: number }[] = [
  { name: "fulu", forks: FULU, slotsToApply: 1 },
  { name: "gloas", forks: GLOAS, slotsToApply: 2 },
];

const isOnChain = async (chain: BeaconChain, block: ChainBlock) =>
  hasCanonicalPayload(chain, block, await canonicalChild(chain, block.root));

/** Signs a transaction of a funded account with its next nonce. */
export function signed(engine: EvmEngine, from: number, { to, type = 2, ...fields }: Fields): Uint8Array {
  const { pool, rules, head } = engine;
  const { address, privateKey } = account(from);
  const { common, chainId } = rules.at(head.header.timestamp + 2n);
  const gasLimit = rules.at(head.header.timestamp + 2n).isSince("amsterdam") ? 1_000_000n : 300_000n;
  const data = {
    chainId,
    nonce: pool.nextNonce(address),
    gasLimit,
    ...(type >= 2 ? { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: 2n * GWEI } : { gasPrice: 20n * GWEI }),
    ...(to instanceof Uint8Array && { to: new Address(to) }),
    ...fields,
    type,
  };
  return createTx(data as TypedTxData, { common })
    .sign(privateKey)
    .serialize();
}

/** A chain with the EVM, by default of fulu, in this thread and with a manual clock. */
export async function openEvmChain(options: Partial<DevNodeOptions> = {}, directory = tempDirectory()) {
  const evm = new SameThreadEvm();
  const { startWorker: startEvmWorker } = evm;
  const opened = await openControlled(FULU, directory, { ...EVM, chainTuning: { kzg }, startEvmWorker, ...options });
  await opened.devChain.evm!.ready;
  const { engine } = evm;
  const { thread } = opened.devChain.evm!;
  /** The EVM's side of the channel gets new heads without an answer. */
  const followed = async <T>(result: Promise<T>): Promise<T> => {
    const value = await result;
    await thread.eth.delivered();
    return value;
  };
  /** The payloads of the canonical chain by slot, the oldest first. */
  const payloads = async (): Promise<[Slot, ExecutionPayload][]> => {
    const { chain } = opened;
    const found: [Slot, ExecutionPayload][] = [];
    for (let slot = 1; slot <= chain.head.slot; slot++) {
      const block = await chain.blocks.canonicalAtSlot(slot);
      if (!block || (bidOf(block.signed.message) && !(await isOnChain(chain, block)))) continue;
      found.push([slot, (await chain.payloadStore.payloadOf(block.signed, block.root))!.payload]);
    }
    return found;
  };
  const balance = (address: Uint8Array, { world }: ExecutedBlock = engine.head) =>
    engine.executor.reader.account(world, address)?.balance ?? 0n;
  return {
    ...opened,
    advance: (slots: number) => followed(opened.advance(slots)),
    call: ((...args) => followed(opened.call(...args))) as typeof opened.call,
    engine,
    balance,
    nonce: (address: Uint8Array) => engine.executor.reader.account(engine.head.world, address)?.nonce ?? 0n,
    send: async (from: number, fields: Fields) => {
      const hash = await thread.addTransaction(signed(engine, from, fields));
      return engine.pool.get(hash)!.transaction;
    },
    sendRaw: async (raw: Uint8Array): Promise<void> => {
      await thread.addTransaction(raw);
    },
    sign: (from: number, fields: Fields): Uint8Array => signed(engine, from, fields),
    /** Receipts of the block at the head. */
    receipts: async () => engine.head.receipts,
    pooled: async (): Promise<number> => engine.pool.size,
    /** Transactions of the canonical chain as hex strings, the oldest first. */
    included: async (): Promise<string[]> => {
      return (await payloads()).flatMap(([, { transactions }]) => transactions.map(hexOf));
    },
    /** Slots of the canonical blocks that have a transaction. */
    slotsOf: async (raw: Uint8Array): Promise<number[]> => {
      const having = (await payloads()).filter(([, { transactions }]) => transactions.map(hexOf).includes(hexOf(raw)));
      return having.map(([slot]) => slot);
    },
    payloads,
    /** Payload of the block at the head. */
    payload: async (): Promise<ExecutionPayload> => {
      const { blocks, head, payloadStore } = opened.chain;
      return (await payloadStore.payloadOf((await blocks.signedByRoot(head.root))!, head.root))!.payload;
    },
  };
}

/** Signs a transaction with one blob, as it is sent: with the sidecar that a fork needs. */
export function signedBlob(
  engine: EvmEngine,
  from: number,
  { config, slot, fork }: { config: BeaconConfig; slot: Slot; fork: ForkPostDeneb },
): { sent: Uint8Array; raw: Uint8Array; blob: Uint8Array; commitment: Uint8Array } {
  const blobs = new DevBlobs({ config, counts: { min: 1, max: 1 } });
  const parent = { blockHash: account(from).address, blockNumber: 0 };
  const bundle = blobs.bundleFor({ fork, slot, parent });
  const blobVersionedHashes = versionedHashesOf(bundle.commitments).map(hexOf);
  const to = new Uint8Array(20).fill(0xb1);
  const raw = signed(engine, from, { type: 3, to, blobVersionedHashes, maxFeePerBlobGas: GWEI });
  const version = isForkPostFulu(fork) ? 1 : 0;
  const sent = joinSidecar({ raw, sidecar: { version, ...bundle } });
  return { sent, raw, blob: bundle.blobs[0]!, commitment: bundle.commitments[0]! };
}
