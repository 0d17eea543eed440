import { Address } from "@ethereumjs/util";
import { BenchChain } from "../evm/chain.ts";
import { printHeader, printRow, printSetting } from "../support/table.ts";
import { ECRECOVER, KINDS, type Kind } from "./kinds.ts";

const CONTRACT = new Uint8Array(20).fill(0xcc);
const BLOCK_GAS = 30_000_000n;
/** EIP-7825. */
const TRANSACTION_GAS = 16_777_216n;
const WARM_UP_GAS = 1_500_000n;
/** A block that would take longer is measured with less gas. */
const MAX_SECONDS = 15;

interface Figures {
  kind: Kind;
  /** Seconds per million gas. */
  perMillion: number;
}

/** Prints a table in the order of the kinds. */
export async function benchWorstBlocks(part: string): Promise<void> {
  printSetting(`blocks of ${BLOCK_GAS} gas, CPU time of all threads`);
  printHeader("block full of", "ms per million gas", "seconds", "against ecrecover");
  let base: Figures | undefined;
  for (const kind of KINDS.filter(({ name }) => name === ECRECOVER || name.includes(part))) {
    const figures = await measure(kind);
    base ??= figures;
    const { perMillion } = figures;
    const block = (perMillion * Number(BLOCK_GAS)) / 1e6;
    printRow(kind.name, (perMillion * 1000).toFixed(1), block.toFixed(2), (perMillion / base.perMillion).toFixed(2));
  }
}

async function measure(kind: Kind): Promise<Figures> {
  const chain = await BenchChain.open([{ address: CONTRACT, nonce: 1n, code: kind.code() }]);
  await fill(chain, WARM_UP_GAS);
  const { seconds, gasUsed } = await fill(chain, WARM_UP_GAS);
  const affordable = BigInt(Math.floor((MAX_SECONDS / seconds) * Number(gasUsed)));
  const full = await fill(chain, affordable < BLOCK_GAS ? affordable : BLOCK_GAS);
  return { kind, perMillion: (full.seconds * 1e6) / Number(full.gasUsed) };
}

/** Builds a block of transactions with so much gas. */
async function fill(chain: BenchChain, gas: bigint): Promise<{ seconds: number; gasUsed: bigint }> {
  const to = new Address(CONTRACT);
  for (let left = gas; left > 0n; left -= TRANSACTION_GAS) {
    const gasLimit = left < TRANSACTION_GAS ? left : TRANSACTION_GAS;
    if (gasLimit > 100_000n) await chain.pool.add(chain.sign(0, { to, gasLimit }));
  }
  const before = process.cpuUsage();
  const { header } = await chain.build();
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  if (header.gasUsed < gas / 2n) throw new Error(`The block used ${header.gasUsed} of ${gas} gas.`);
  return { seconds, gasUsed: header.gasUsed };
}
