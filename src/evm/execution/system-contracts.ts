import { createHash } from "node:crypto";
import { Address } from "@ethereumjs/util";
import {
  BEACON_ROOTS_CODE,
  BUILDER_DEPOSITS_CODE,
  BUILDER_EXITS_CODE,
  CONSOLIDATION_REQUESTS_CODE,
  HISTORY_STORAGE_CODE,
  WITHDRAWAL_REQUESTS_CODE,
} from "../contract-code.ts";
import { numberToBytes } from "../rlp.ts";
import type { Keccak } from "../state/trie.ts";
import type { WorldState } from "../state/world-state.ts";
import {
  BEACON_ROOTS,
  BUILDER_DEPOSITS,
  BUILDER_EXITS,
  CONSOLIDATION_REQUESTS,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
} from "../system-addresses.ts";
import { depositRequests, type ExecutedTransaction } from "./deposit-events.ts";
import { ContractFaultError } from "./invalid-block.ts";
import type { ForkRules, Machine } from "./rules.ts";

type EvmBlock = NonNullable<Parameters<Machine["vm"]["evm"]["runCall"]>[0]["block"]>;

const SYSTEM_ADDRESS = new Address(new Uint8Array(20).fill(0xff).fill(0xfe, 19));
export const BEACON_ROOTS_ADDRESS: Address = new Address(BEACON_ROOTS);
export const HISTORY_STORAGE_ADDRESS: Address = new Address(HISTORY_STORAGE);
export const WITHDRAWAL_REQUESTS_ADDRESS: Address = new Address(WITHDRAWAL_REQUESTS);
export const CONSOLIDATION_REQUESTS_ADDRESS: Address = new Address(CONSOLIDATION_REQUESTS);

const WORD = 32;
const SYSTEM_CALL_GAS = 30_000_000n;
/** EIP-8037: state gas for 16 new slots of 64 bytes each. */
const SYSTEM_CALL_STATE_GAS = 16n * 64n * 1530n;
/** Ring buffer size of both history contracts. */
const HISTORY_LENGTH = 8191n;
const DEPOSIT_REQUEST = 0;
const WITHDRAWAL_REQUEST = 1;
const CONSOLIDATION_REQUEST = 2;
const BUILDER_DEPOSIT_REQUEST = 3;
const BUILDER_EXIT_REQUEST = 4;
/**
 * Slots used by all request contracts: excess, count in the current block, head and tail of the queue. If all four are
 * zero, there are no requests to process.
 */
const QUEUE_SLOTS = [0n, 1n, 2n, 3n].map(slotOf);
interface RequestContract {
  type: number;
  address: Address;
  codeHash: Uint8Array;
}

/**
 * Calls the system contracts. If a contract has its original code, execution is skipped where the result is known:
 * EIP-4788 writes two slots, EIP-2935 writes one, and a request contract with an empty queue changes nothing.
 */
export class SystemContracts {
  readonly #beaconRootsHash: Uint8Array;
  readonly #historyHash: Uint8Array;
  readonly #requests: readonly RequestContract[];
  /** EIP-8282. */
  readonly #builderRequests: readonly RequestContract[];

  constructor(keccak: Keccak) {
    this.#beaconRootsHash = keccak(BEACON_ROOTS_CODE);
    this.#historyHash = keccak(HISTORY_STORAGE_CODE);
    this.#requests = [
      { type: WITHDRAWAL_REQUEST, address: WITHDRAWAL_REQUESTS_ADDRESS, codeHash: keccak(WITHDRAWAL_REQUESTS_CODE) },
      {
        type: CONSOLIDATION_REQUEST,
        address: CONSOLIDATION_REQUESTS_ADDRESS,
        codeHash: keccak(CONSOLIDATION_REQUESTS_CODE),
      },
    ];
    this.#builderRequests = [
      {
        type: BUILDER_DEPOSIT_REQUEST,
        address: new Address(BUILDER_DEPOSITS),
        codeHash: keccak(BUILDER_DEPOSITS_CODE),
      },
      { type: BUILDER_EXIT_REQUEST, address: new Address(BUILDER_EXITS), codeHash: keccak(BUILDER_EXITS_CODE) },
    ];
  }

  /** EIP-4788. */
  async storeBeaconRoot(machine: Machine, block: EvmBlock, timestamp: bigint, root: Uint8Array): Promise<void> {
    if (!hasCode(machine.state, BEACON_ROOTS_ADDRESS, this.#beaconRootsHash)) {
      await callIfDeployed(machine, block, BEACON_ROOTS_ADDRESS, root);
      return;
    }
    const index = timestamp % HISTORY_LENGTH;
    write(machine, BEACON_ROOTS_ADDRESS, slotOf(index), numberToBytes(timestamp));
    write(machine, BEACON_ROOTS_ADDRESS, slotOf(index + HISTORY_LENGTH), root);
  }

  /** EIP-2935. */
  async storeParentHash(machine: Machine, block: EvmBlock, number: bigint, parentHash: Uint8Array): Promise<void> {
    if (!hasCode(machine.state, HISTORY_STORAGE_ADDRESS, this.#historyHash)) {
      await callIfDeployed(machine, block, HISTORY_STORAGE_ADDRESS, parentHash);
      return;
    }
    write(machine, HISTORY_STORAGE_ADDRESS, slotOf((number - 1n) % HISTORY_LENGTH), parentHash);
  }

  /**
   * Returns a block's execution requests, ordered by type and omitting types without requests (EIP-7685). Throws a
   * `ContractFaultError` if overridden contract code returns invalid requests.
   */
  async collectRequests(
    machine: Machine,
    block: EvmBlock,
    rules: ForkRules,
    executed: readonly ExecutedTransaction[],
  ): Promise<Uint8Array[]> {
    const requests: Uint8Array[] = [];
    const deposits = depositRequests(executed, rules.depositContract);
    if (deposits.length > 0) requests.push(withType(DEPOSIT_REQUEST, deposits));
    const contracts = rules.isSince("amsterdam") ? [...this.#requests, ...this.#builderRequests] : this.#requests;
    for (const { type, address, codeHash } of contracts) {
      const { state } = machine;
      if (
        hasCode(state, address, codeHash) &&
        QUEUE_SLOTS.every((slot) => state.storageAt(address, slot).length === 0)
      ) {
        for (const slot of QUEUE_SLOTS) machine.recorder?.touchSlot(address.bytes, slot);
        continue;
      }
      const { code, returnValue, error } = await systemCall(machine, block, address, new Uint8Array(0));
      if (code.length === 0) throw new ContractFaultError(address.bytes, "has no code");
      if (error !== undefined) throw new ContractFaultError(address.bytes, `failed: ${error}`);
      if (returnValue.length > 0) requests.push(withType(type, [returnValue]));
    }
    return requests;
  }
}

/** EIP-7685, requests_hash. */
export function hashOfRequests(requests: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256");
  for (const request of requests) hash.update(createHash("sha256").update(request).digest());
  return new Uint8Array(hash.digest());
}

function slotOf(index: bigint): Uint8Array {
  const slot = new Uint8Array(WORD);
  const bytes = numberToBytes(index);
  slot.set(bytes, WORD - bytes.length);
  return slot;
}

/** Writes a slot, as the contract's code would. */
function write({ state, recorder }: Machine, address: Address, slot: Uint8Array, value: Uint8Array): void {
  recorder?.touchSlot(address.bytes, slot);
  state.setStorage(address, slot, value);
}

function hasCode(state: WorldState, address: Address, codeHash: Uint8Array): boolean {
  const account = state.account(address.bytes);
  return account !== undefined && Buffer.compare(account.codeHash, codeHash) === 0;
}

/** Calls a contract if it has code. A failed call changes nothing and does not invalidate the block. */
async function callIfDeployed(machine: Machine, block: EvmBlock, to: Address, data: Uint8Array): Promise<void> {
  machine.recorder?.touch(to.bytes);
  const code = machine.state.account(to.bytes)?.code;
  if (code !== undefined && code.length > 0) await systemCall(machine, block, to, data);
}

async function systemCall(
  { vm, state, recorder }: Machine,
  block: EvmBlock,
  to: Address,
  data: Uint8Array,
): Promise<{ code: Uint8Array; returnValue: Uint8Array; error: string | undefined }> {
  const code = await state.getCode(to);
  const isSystemTouched = recorder?.hasTouched(SYSTEM_ADDRESS.bytes);
  setStateGas(vm.evm, SYSTEM_CALL_STATE_GAS);
  const { execResult } = await vm.evm.runCall({
    caller: SYSTEM_ADDRESS,
    to,
    data,
    block,
    gasLimit: SYSTEM_CALL_GAS,
    skipNonceIncrement: true,
  });
  setStateGas(vm.evm, 0n);
  // The access list contains the system account only if code accesses it.
  if (isSystemTouched === false) recorder?.forget(SYSTEM_ADDRESS.bytes);
  // Also removes the system account, which was touched by the call.
  await vm.evm.journal.cleanup();
  state.clearOriginals();
  return { code, returnValue: execResult.returnValue, error: execResult.exceptionError?.error };
}

/** Starts a message outside of a transaction, with the given state gas (EIP-8037). */
export function setStateGas(evm: Machine["vm"]["evm"], reservoir: bigint): void {
  Object.assign(evm, { stateGasReservoir: reservoir, executionStateGasUsed: 0n, _stateGasSnapshots: [] });
}

function withType(type: number, parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat([Uint8Array.of(type), ...parts]));
}
