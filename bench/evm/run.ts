import { Address, type AddressLike } from "@ethereumjs/util";
import type { ExecutedBlock } from "../../src/evm/execution/block.ts";
import { toPayload } from "../../src/evm/execution/payload.ts";
import { decodeWorld, encodeWorld } from "../../src/evm/state/world-codec.ts";
import { median } from "../support/statistics.ts";
import { printHeader, printRow, printSetting } from "../support/table.ts";
import { BenchChain } from "./chain.ts";
import { benchInterpreters } from "./interpreters.ts";
import { benchNode } from "./node.ts";
import { compileToken } from "./token.ts";

const PER_BLOCK = 100;
/** Enough for a new account, also on Amsterdam (EIP-8037). */
const TRANSFER_GAS = 210_000n;
const WARM_BLOCKS = 20;
/** Blocks held with their states, as during a short time without finality. */
const HELD_BLOCKS = 64;

type Fork = "osaka" | "amsterdam";

/** Calldata and recipient of the transaction with an index. */
type Call = (index: number) => { to: AddressLike; value?: bigint; data?: Uint8Array; gasLimit: bigint };

export async function benchEvm({ transactions }: { transactions: number }): Promise<void> {
  printSetting("CPU time of all threads");
  printHeader("the EVM", "");
  for (const fork of ["osaka", "amsterdam"] as const) {
    await benchEmptyBlocks(fork);
    await benchTransactions(fork, "transfer", async () => transfer);
    await benchTransactions(fork, "ERC-20 mint", deployToken);
  }
  await benchInterpreters();
  await benchMemory(transactions);
  console.log();
  await benchNode();
}

async function benchEmptyBlocks(fork: Fork): Promise<void> {
  const chain = await BenchChain.open([], fork);
  const first = await cpuMs(() => buildBlocks(chain, WARM_BLOCKS));
  await buildBlocks(chain, 500);
  const warm = await cpuMs(() => buildBlocks(chain, 1000));
  printRow(
    `empty block of ${fork}, built`,
    `${(warm / 1000).toFixed(3)} ms (first ${WARM_BLOCKS}: ${(first / WARM_BLOCKS).toFixed(2)})`,
  );
  const parent = chain.head;
  const block = await chain.build();
  const payload = toPayload(block);
  const context = { parentBeaconBlockRoot: block.header.parentBeaconBlockRoot, requests: [], versionedHashes: [] };
  const verified = await cpuMs(async () => {
    for (let count = 0; count < 500; count++) await chain.executor.verify(parent, payload, context);
  });
  printRow(`empty block of ${fork}, verified`, `${(verified / 500).toFixed(3)} ms`);
}

async function benchTransactions(
  fork: Fork,
  name: string,
  prepare: (chain: BenchChain) => Promise<Call>,
): Promise<void> {
  const chain = await BenchChain.open([], fork);
  const call = await prepare(chain);
  const blocks = 60;
  const sent = Array.from({ length: blocks * PER_BLOCK }, (_, index) => chain.sign(index, call(index)));
  const adding: number[] = [];
  const building: number[] = [];
  const verifying: number[] = [];
  for (let block = 0; block < blocks; block++) {
    const batch = sent.slice(block * PER_BLOCK, (block + 1) * PER_BLOCK);
    const parent = chain.head;
    adding.push(await cpuMs(() => addAll(chain, batch)));
    building.push(await cpuMs(() => chain.build()));
    const { head } = chain;
    if (head.receipts.length !== PER_BLOCK || head.receipts.some(({ succeeded }) => !succeeded)) {
      throw new Error(
        `The block has ${head.receipts.length} transactions; ${PER_BLOCK} successful ones were expected.`,
      );
    }
    if (block % 5 === 4) verifying.push(await cpuMs(() => chain.executor.execute(parent, head)));
  }
  const perTransaction = (times: readonly number[]) => median(times.slice(times.length / 2)) / PER_BLOCK;
  const [add, build, verify] = [adding, building, verifying].map(perTransaction) as [number, number, number];
  printRow(
    `${name}s of ${fork}, pool and block`,
    `${(1000 / (add + build)).toFixed(0)}/s (each: pool with sender recovery ${add.toFixed(3)} ms, ` +
      `block ${build.toFixed(3)} ms, re-executed ${verify.toFixed(3)} ms)`,
  );
}

/** Measures memory over transfers to new accounts and mints, in alternation. */
async function benchMemory(count: number): Promise<void> {
  const chain = await BenchChain.open();
  const mint = await deployToken(chain);
  const held: ExecutedBlock[] = [];
  const before = heapMb();
  const marks: string[] = [];
  const quarter = Math.floor(count / 4 / PER_BLOCK) * PER_BLOCK;
  for (let index = 0; index < count; index += PER_BLOCK) {
    const batch = Array.from({ length: PER_BLOCK }, (_, offset) => {
      const number = index + offset;
      return chain.sign(number, number % 2 === 0 ? transfer(number) : mint(number));
    });
    await addAll(chain, batch);
    held.push(await chain.build());
    if (held.length > HELD_BLOCKS) held.shift();
    if ((index + PER_BLOCK) % quarter === 0) {
      marks.push(`${index + PER_BLOCK}: +${(heapMb() - before).toFixed(0)} MB, ${residentMb().toFixed(0)} MB resident`);
    }
  }
  printRow(`memory, ${HELD_BLOCKS} blocks held`, marks.join("; "));

  const snapshot = chain.head;
  const old = held[0]!;
  const reverting: number[] = [];
  for (let run = 0; run < 50; run++) {
    chain.head = snapshot;
    reverting.push(
      await wallMs(async () => {
        chain.head = old;
        chain.pool.setHead(old, Number(old.header.timestamp) + 12);
        await chain.build();
      }),
    );
  }
  printRow("revert by 63 blocks and a block on top", `${median(reverting).toFixed(2)} ms; a snapshot is a reference`);
  let bytes = new Uint8Array(0) as Uint8Array;
  const encoding = await cpuMs(() => {
    bytes = encodeWorld(snapshot.world);
  });
  const decoding = await cpuMs(() => decodeWorld(bytes, chain.executor.rules.crypto.keccak));
  printRow(
    "state dump",
    `${(bytes.length / 1e6).toFixed(1)} MB, encoded in ${encoding.toFixed(0)} ms, decoded in ${decoding.toFixed(0)} ms`,
  );
}

const recipient = (index: number) => {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32BE(0x10000 + index, 16);
  bytes[0] = 0x77;
  return new Uint8Array(bytes);
};

const transfer: Call = (index) => ({
  to: new Address(recipient(index)),
  value: 1n + BigInt(index),
  gasLimit: TRANSFER_GAS,
});

async function deployToken(chain: BenchChain): Promise<Call> {
  await chain.pool.add(chain.sign(0, { data: compileToken().initCode, gasLimit: 10_000_000n }));
  const { receipts } = await chain.build();
  const to = new Address(receipts[0]!.contractAddress!);
  return (index) => {
    const data = Buffer.alloc(68);
    data.writeUInt32BE(0x40c10f19, 0);
    data.set(recipient(index), 16);
    data.writeUInt32BE(1000 + index, 64);
    return { to, data: new Uint8Array(data), gasLimit: 250_000n };
  };
}

async function addAll(chain: BenchChain, batch: readonly Uint8Array[]): Promise<void> {
  for (const sent of batch) await chain.pool.add(sent);
}

async function buildBlocks(chain: BenchChain, count: number): Promise<void> {
  for (let built = 0; built < count; built++) await chain.build();
}

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function wallMs(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function heapMb(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

const residentMb = () => process.memoryUsage().rss / 1e6;
