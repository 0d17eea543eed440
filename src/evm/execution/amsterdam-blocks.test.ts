import { expect, it } from "vitest";
import fixtures from "../../../test/fixtures/amsterdam-blocks.json" with { type: "json" };
import { bytesOf, hexOf, sharedCrypto } from "../../../test/support/evm/evm.ts";
import { builderContracts, createGenesisBlock, devAccounts, MULTICALL3_ADDRESS } from "../genesis.ts";
import { BlockExecutor } from "./block-executor.ts";
import { ChainRules } from "./rules.ts";
import { decodeTransaction } from "./transaction.ts";

const DEPOSIT_CONTRACT = bytesOf("00000000219ab540356cbb839cbe05303d7705fa");
const SENDER = bytesOf("f6c3a9edc1afa0ad5b720e4d42e1437c43d3b3ff");
const OPTIONS = {
  chainId: 1,
  depositContract: DEPOSIT_CONTRACT,
  forks: { shanghai: 0, cancun: 0, prague: 0, osaka: 0, amsterdam: 0 },
  blobs: [{ timestamp: 0, target: 14, max: 21, updateFraction: 0xb24b3fn }],
};
/** The blocks have one byte of extra data. */
const EXTRA_DATA = Uint8Array.of(0);

const word = (hex: string): Uint8Array => bytesOf(hex.padStart(64, "0"));

it.each(
  fixtures.blocks.flatMap((block) => [false, true].map((usesLibrary) => [block.name, usesLibrary, block] as const)),
)(
  "%s has the official hash (with the library's interpreter: %s)",
  async (_, usesLibrary, { genesis: genesisHash, accounts, transactions, hash }) => {
    const rules = new ChainRules(OPTIONS, await sharedCrypto(), { usesLibrary });
    const contracts = devAccounts(DEPOSIT_CONTRACT, false).filter(
      ({ address, balance }) => balance === undefined && `0x${hexOf(address)}` !== MULTICALL3_ADDRESS,
    );
    const genesis = createGenesisBlock(
      rules,
      { timestamp: 0, gasLimit: 120_000_000n, baseFeePerGas: 7n, extraData: EXTRA_DATA },
      [
        ...contracts,
        ...builderContracts(false),
        { address: SENDER, balance: 10n ** 27n },
        ...accounts.map(({ address, balance, code, storage }) => ({
          address: bytesOf(address),
          nonce: 1n,
          balance: BigInt(balance),
          code: bytesOf(code),
          storage: Object.entries(storage).map(([slot, value]) => [word(slot), word(value)] as const),
        })),
      ],
    );
    expect(hexOf(genesis.hash)).toBe(genesisHash);
    const executor = new BlockExecutor(rules);
    const block = await executor.build(
      genesis,
      {
        timestamp: 1000,
        prevRandao: new Uint8Array(32),
        feeRecipient: bytesOf("2adc25665018aa1fe0e6bc666dac8fc2697ff9ba"),
        withdrawals: [],
        slotNumber: 0,
        extraData: EXTRA_DATA,
      },
      transactions.map((raw) => decodeTransaction(bytesOf(raw), rules.at(1000))),
    );
    expect(hexOf(block.hash)).toBe(hash);
  },
);
