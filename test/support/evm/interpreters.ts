import type { EVM } from "@ethereumjs/evm";
import { Address } from "@ethereumjs/util";
import { expect } from "vitest";
import { BlockHashes } from "../../../src/evm/execution/block-hashes.ts";
import { evmBlock } from "../../../src/evm/execution/evm-block.ts";
import type { ExecutionFork } from "../../../src/evm/execution/forks.ts";
import { ChainRules, type ForkRules, type Machine } from "../../../src/evm/execution/rules.ts";
import { setStateGas } from "../../../src/evm/execution/system-contracts.ts";
import { bytesOf, hexOf, optionsOf, sharedCrypto } from "./evm.ts";
import type { Program } from "./random-program.ts";

const SENDER = new Address(bytesOf("00".repeat(18).concat("1234")));
const CONTRACT = new Address(bytesOf("00".repeat(19).concat("c0")));
const SLOTS = 8;
const BLOCK_NUMBER = 300n;
const ENVIRONMENT = {
  parentHash: new Uint8Array(32),
  feeRecipient: new Uint8Array(20).fill(0x22),
  number: BLOCK_NUMBER,
  gasLimit: 30_000_000n,
  timestamp: 1_234_567n,
  prevRandao: new Uint8Array(32).fill(0x99),
  baseFeePerGas: 7n,
  excessBlobGas: 0n,
  parentBeaconBlockRoot: new Uint8Array(32),
  slotNumber: 321n,
};
/** Enough for all new state of a program, so that none is paid from its gas, where the library differs (EIP-8037). */
const STATE_GAS = 1_000_000_000n;
/** Contracts that programs call: stores, reverts with data, returns its input, and one that calls a fourth. */
const OTHERS: Record<string, string> = {
  c1: "5f5460010180 5f55 5f52 60205ff3",
  c2: "63deadbeef5f526004601cfd",
  c3: "365f5f37365ff3",
  c4: "30ff",
};

export type Interpreters = [own: ForkRules, library: ForkRules];

export async function openMachines(fork: ExecutionFork): Promise<Interpreters> {
  const crypto = await sharedCrypto();
  const options = optionsOf(fork);
  const [own, library] = [false, true].map((usesLibrary) => new ChainRules(options, crypto, { usesLibrary }).at(1));
  return [own!, library!];
}

/** Runs a program with both interpreters, compares all that it did, and returns its error. */
export async function compareInterpreters(
  rules: Interpreters,
  program: Program,
  name = "",
): Promise<string | undefined> {
  const [own, library] = await Promise.all(
    rules.map((each) => each.withMachine((machine) => run(each, machine, program))),
  );
  // An instruction may lack both operands and gas, or gas for too much init code.
  if (own!.error !== library!.error && isShortage(own!.error) && isShortage(library!.error))
    own!.error = library!.error;
  expect(own, `${name} ${hexOf(program.code)}`).toEqual(library);
  return own!.error;
}

const SHORTAGES = ["stack underflow", "out of gas", "initcode exceeds max initcode size"];
const isShortage = (error: string | undefined) => error !== undefined && SHORTAGES.includes(error);

async function run(rules: ForkRules, machine: Machine, program: Program) {
  const { code, data = new Uint8Array(0), value = 0n, gasLimit = 200_000n, isStatic = false } = program;
  const { state } = machine;
  const { evm } = machine.vm;
  state.setAccount(SENDER.bytes, { balance: 10n ** 18n });
  state.setAccount(CONTRACT.bytes, { code, nonce: 1n, balance: 5n });
  for (const [address, other] of Object.entries(OTHERS)) {
    state.setAccount(bytesOf("00".repeat(19).concat(address)), {
      code: bytesOf(other.replaceAll(" ", "")),
      nonce: 1n,
      balance: 3n,
    });
  }
  state.setStorage(CONTRACT, slotOf(1), Uint8Array.of(7));
  state.setStorage(CONTRACT, slotOf(2), new Uint8Array(32).fill(0xab));
  machine.blockHashes = BlockHashes.of(
    BLOCK_NUMBER - 1n,
    Array.from({ length: 256 }, (_, index) => new Uint8Array(32).fill(index)),
  );
  // A transaction does so, too.
  for (const { bytes } of [SENDER, CONTRACT]) evm.journal.addAlwaysWarmAddress(hexOf(bytes));
  const block = evmBlock(ENVIRONMENT, rules);
  setStateGas(evm, rules.isSince("amsterdam") ? STATE_GAS : 0n);
  const { execResult } = await evm.runCall({
    caller: SENDER,
    to: CONTRACT,
    data,
    value,
    gasLimit,
    isStatic,
    block,
    gasPrice: 9n,
  });
  const {
    exceptionError,
    returnValue,
    executionGasUsed,
    gasRefund,
    logs = [],
    selfdestruct,
    createdAddresses,
  } = execResult;
  evm.journal.cleanJournal();
  const { stateGasReservoir, executionStateGasUsed } = evm as EVM;
  return {
    stateGas: [stateGasReservoir, executionStateGasUsed],
    accessed: accessesOf(machine),
    error: exceptionError?.error,
    returnValue: hexOf(returnValue),
    executionGasUsed,
    gasRefund,
    logs: logs.map(([address, topics, logged]) => [hexOf(address), topics.map(hexOf), hexOf(logged)]),
    selfdestruct: [...(selfdestruct ?? [])],
    createdAddresses: [...(createdAddresses ?? [])],
    storage: Array.from({ length: SLOTS }, (_, index) => hexOf(state.storageAt(CONTRACT, slotOf(index)))),
    root: hexOf(await state.getStateRoot()),
  };
}

function accessesOf({ recorder }: Machine): [address: string, slots: string[]][] {
  return [...(recorder?.take() ?? [])]
    .map(([address, slots]): [string, string[]] => [keyHex(address), [...slots].map(keyHex).sort()])
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

const keyHex = (key: string): string => Buffer.from(key, "latin1").toString("hex");

function slotOf(index: number): Uint8Array {
  const slot = new Uint8Array(32);
  slot[31] = index;
  return slot;
}
