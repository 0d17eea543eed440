import { defaultChainConfig } from "@lodestar/config";
import { describe, expect, it } from "vitest";
import { blobBaseFee, isGasLimitAllowed, nextBaseFee, nextExcessBlobGas, nextGasLimit } from "./fees.ts";
import { blobParametersAt, forkAt, GAS_PER_BLOB, rulesFromConsensus, updateFractionOf } from "./forks.ts";
import type { Header } from "./header.ts";

const header = (fields: Partial<Header>) =>
  ({ gasLimit: 30_000_000n, gasUsed: 0n, baseFeePerGas: 10n ** 9n, ...fields }) as Header;

describe("fees", () => {
  it("base fee follows the use of gas (EIP-1559)", () => {
    expect(nextBaseFee(header({ gasUsed: 15_000_000n }))).toBe(10n ** 9n);
    expect(nextBaseFee(header({ gasUsed: 30_000_000n }))).toBe(1_125_000_000n);
    expect(nextBaseFee(header({ gasUsed: 0n }))).toBe(875_000_000n);
    expect(nextBaseFee(header({ gasUsed: 15_000_001n, baseFeePerGas: 7n }))).toBe(8n);
    expect(nextBaseFee(header({ gasUsed: 0n, baseFeePerGas: 7n }))).toBe(7n);
  });

  it("gas limit moves by less than a 1024th per block", () => {
    const next = nextGasLimit(30_000_000n, 60_000_000n);
    expect(isGasLimitAllowed(next, 30_000_000n)).toBe(true);
    expect(isGasLimitAllowed(next + 1n, 30_000_000n)).toBe(false);
    expect(nextGasLimit(30_000_000n, 30_000_010n)).toBe(30_000_010n);
    expect(isGasLimitAllowed(nextGasLimit(30_000_000n, 1n), 30_000_000n)).toBe(true);
    expect(nextGasLimit(5000n, 1n)).toBe(5000n);
  });

  it("blob base fee grows by an eighth per full block above target (EIP-4844)", () => {
    const parameters = { timestamp: 0, target: 3, max: 6, updateFraction: updateFractionOf(6) };
    expect(blobBaseFee(0n, parameters)).toBe(1n);
    expect(blobBaseFee(2_314_057n, parameters)).toBe(1n);
    expect(blobBaseFee(2_314_058n, parameters)).toBe(2n);
    expect(blobBaseFee(10n * 1024n * 1024n, parameters)).toBe(23n);
    const used = header({ blobGasUsed: 6n * GAS_PER_BLOB, excessBlobGas: GAS_PER_BLOB });
    expect(nextExcessBlobGas(used, parameters, false)).toBe(4n * GAS_PER_BLOB);
    expect(nextExcessBlobGas(header({ blobGasUsed: GAS_PER_BLOB }), parameters, false)).toBe(0n);
    expect(nextExcessBlobGas(header({}), parameters, true)).toBe(0n);
  });

  it("blob gas below the reserve price does not lower the excess (EIP-7918)", () => {
    const parameters = { timestamp: 0, target: 6, max: 9, updateFraction: updateFractionOf(9) };
    const parent = header({ blobGasUsed: 6n * GAS_PER_BLOB, excessBlobGas: 6n * GAS_PER_BLOB });
    expect(nextExcessBlobGas(parent, parameters, false)).toBe(6n * GAS_PER_BLOB);
    expect(nextExcessBlobGas(parent, parameters, true)).toBe(8n * GAS_PER_BLOB);
    expect(nextExcessBlobGas({ ...parent, baseFeePerGas: 1n }, parameters, true)).toBe(6n * GAS_PER_BLOB);
  });

  it("an excess at the target is kept below the reserve price only, and none below the target", () => {
    const parameters = { timestamp: 0, target: 6, max: 9, updateFraction: updateFractionOf(9) };
    const after = (blobs: bigint, hasReservePrice: boolean) =>
      nextExcessBlobGas(header({ blobGasUsed: blobs * GAS_PER_BLOB, excessBlobGas: 0n }), parameters, hasReservePrice);
    expect([after(6n, false), after(5n, false), after(5n, true)]).toEqual([0n, 0n, 0n]);
    // EIP-7918: used × (max - target) / max.
    expect(after(6n, true)).toBe(2n * GAS_PER_BLOB);
  });

  it("the rules follow from the consensus configuration", () => {
    const times = { chainId: 1, genesisTime: 1000, slotsPerEpoch: 32 };
    const rules = rulesFromConsensus(
      {
        ...defaultChainConfig,
        CAPELLA_FORK_EPOCH: 0,
        DENEB_FORK_EPOCH: 2,
        ELECTRA_FORK_EPOCH: 3,
        FULU_FORK_EPOCH: 4,
        SECONDS_PER_SLOT: 12,
        BLOB_SCHEDULE: [
          { EPOCH: 5, MAX_BLOBS_PER_BLOCK: 15 },
          { EPOCH: 6, MAX_BLOBS_PER_BLOCK: 21 },
        ],
      },
      times,
    );
    const timeOf = (epoch: number) => 1000 + epoch * 384;
    const at = (epoch: number) => {
      const blobs = blobParametersAt(rules, timeOf(epoch));
      return [forkAt(rules, timeOf(epoch)), blobs?.target, blobs?.max, blobs?.updateFraction];
    };
    expect([0, 1, 2, 3, 4, 5, 6].map(at)).toEqual([
      ["shanghai", undefined, undefined, undefined],
      ["shanghai", undefined, undefined, undefined],
      ["cancun", 3, 6, 3_338_477n],
      ["prague", 6, 9, 5_007_716n],
      ["osaka", 6, 9, 5_007_716n],
      ["osaka", 10, 15, 8_346_193n],
      ["osaka", 14, 21, 11_684_671n],
    ]);
    const never = rulesFromConsensus(
      {
        ...defaultChainConfig,
        CAPELLA_FORK_EPOCH: Infinity,
        DENEB_FORK_EPOCH: Infinity,
        ELECTRA_FORK_EPOCH: Infinity,
        FULU_FORK_EPOCH: Infinity,
        BLOB_SCHEDULE: [],
      },
      times,
    );
    expect(never.forks).toEqual({});
    expect(never.blobs).toEqual([]);
  });
});
