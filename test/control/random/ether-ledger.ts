import { expect } from "vitest";
import type { CheckedBlock } from "./canonical-chain.ts";
import { balanceSum } from "./contracts.ts";
import type { Hex } from "./json.ts";
import { lastOfEach } from "./state-overrides.ts";
import type { TestedChain } from "./tested-chain.ts";

const WEI_PER_GWEI = 10n ** 9n;

/**
 * Checks, block by block, that ether only moves between the known accounts, enters by withdrawals and overrides, and is
 * burnt as fees.
 */
export class EtherLedger {
  readonly #chain: TestedChain;
  readonly #addresses: Set<Hex>;
  #last: { hash: Hex; size: number; total: bigint } | undefined;

  constructor(chain: TestedChain, addresses: Iterable<Hex>) {
    this.#chain = chain;
    this.#addresses = new Set(addresses);
  }

  /** Accounts that may own ether. */
  get addresses(): readonly Hex[] {
    return [...this.#addresses];
  }

  know(address: Hex): void {
    this.#addresses.add(address);
  }

  /** Checks consecutive blocks. */
  async expectConserved(blocks: readonly CheckedBlock[]): Promise<void> {
    for (const { eth, receipts } of blocks) {
      this.know(eth.miner);
      for (const { contractAddress } of receipts) if (contractAddress !== null) this.know(contractAddress);
      for (const { address } of eth.withdrawals) this.know(address);
    }
    for (const block of blocks) await this.#expectConserved(block);
  }

  async #expectConserved({ eth, receipts, overrides }: CheckedBlock): Promise<void> {
    // By number, the state of the latest block has the pending overrides.
    const parent = { blockHash: eth.parentHash };
    let change = 0n;
    for (const { kind, address, value } of lastOfEach(overrides)) {
      if (kind !== "balance") continue;
      change += BigInt(value) - BigInt(await this.#chain.call<Hex>("eth_getBalance", [address, parent]));
    }
    for (const { amount } of eth.withdrawals) change += BigInt(amount) * WEI_PER_GWEI;
    for (const { gasUsed, blobGasUsed = 0, blobGasPrice = 0 } of receipts) {
      change -= BigInt(gasUsed) * BigInt(eth.baseFeePerGas) + BigInt(blobGasUsed) * BigInt(blobGasPrice);
    }
    const { size } = this.#addresses;
    const before =
      this.#last?.hash === eth.parentHash && this.#last.size === size ? this.#last.total : await this.#totalAt(parent);
    const total = await this.#totalAt({ blockHash: eth.hash });
    expect(total - before - change, `ether from nowhere in block ${eth.number}`).toBe(0n);
    this.#last = { hash: eth.hash, size, total };
  }

  async #totalAt(block: { blockHash: Hex }): Promise<bigint> {
    return BigInt(await this.#chain.call<Hex>("eth_call", [{ data: balanceSum(this.#addresses) }, block]));
  }
}
