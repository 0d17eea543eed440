import { Address } from "@ethereumjs/util";
import type { runTx } from "@ethereumjs/vm";
import { blobBaseFee } from "./fees.ts";
import type { Header } from "./header.ts";
import type { ForkRules } from "./rules.ts";

/** Header fields known before the block is executed. */
export type BlockEnvironment = Pick<
  Header,
  | "parentHash"
  | "feeRecipient"
  | "number"
  | "gasLimit"
  | "timestamp"
  | "prevRandao"
  | "baseFeePerGas"
  | "excessBlobGas"
  | "parentBeaconBlockRoot"
  | "slotNumber"
>;

export type EvmBlock = NonNullable<Parameters<typeof runTx>[1]["block"]>;

/**
 * Returns the part of a block that the EVM reads. Does not use the library's block object, which validates every field.
 * `blobFee` replaces the fee derived from the excess blob gas.
 */
export function evmBlock(environment: BlockEnvironment, { blobs, common }: ForkRules, blobFee?: bigint): EvmBlock {
  const { feeRecipient, number, gasLimit, timestamp, prevRandao, baseFeePerGas, excessBlobGas = 0n } = environment;
  const { slotNumber } = environment;
  let price = blobFee;
  const header = {
    coinbase: new Address(feeRecipient),
    number,
    gasLimit,
    gasUsed: 0n,
    timestamp,
    difficulty: 0n,
    prevRandao,
    baseFeePerGas,
    excessBlobGas,
    slotNumber,
    getBlobGasPrice: () => {
      price ??= blobs === undefined ? 0n : blobBaseFee(excessBlobGas, blobs);
      return price;
    },
  };
  return { header, common } as unknown as EvmBlock;
}
