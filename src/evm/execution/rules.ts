import { type ChainConfig, Common, type CustomCrypto } from "@ethereumjs/common";
import { EVM, type EVMOpts } from "@ethereumjs/evm";
import { EthereumJSError } from "@ethereumjs/util";
import { createVM, type VM } from "@ethereumjs/vm";
import type { EvmCrypto } from "../crypto.ts";
import { InterpretingEvm } from "../interpreter/interpreting-evm.ts";
import { AccessRecorder } from "../state/access-recorder.ts";
import { KeyHashes } from "../state/key-hashes.ts";
import { MAX_BALANCE } from "../state/world.ts";
import { WorldState } from "../state/world-state.ts";
import type { BlockHashes } from "./block-hashes.ts";
import type { CallBudget } from "./call-budget.ts";
import { EvmFaultError } from "./evm-fault.ts";
import { exponentiationOpcode } from "./exponentiation.ts";
import {
  type BlobParameters,
  blobParametersAt,
  type ChainRulesOptions,
  changesOf,
  EXECUTION_FORKS,
  type ExecutionFork,
  forkAt,
  GAS_PER_BLOB,
} from "./forks.ts";

/** Forks before the merge, all active from genesis. */
const EARLY_FORKS = [
  ["chainstart", "homestead", "tangerineWhistle", "spuriousDragon", "byzantium", "constantinople", "petersburg"],
  ["istanbul", "berlin", "london"],
].flat();
/** EIP-7934: 10 MiB minus a margin of 2 MiB for the beacon block. */
const MAX_BLOCK_SIZE = 8 * 1024 * 1024;
const TRANSACTION_GAS = 21_000n;
/** EIP-2780, TX_BASE_COST: a transfer to the sender itself. */
const AMSTERDAM_TRANSACTION_GAS = 12_000n;
const JUMPDEST = 0x5b;
const JUMPDEST_GAS = 1;

type Precompiles = VM["evm"]["precompiles"];

/** Context read by the EVM during execution. */
interface MachineInputs {
  /** Hashes that BLOCKHASH returns. */
  blockHashes?: BlockHashes;
  budget?: CallBudget;
  /** Since Amsterdam. */
  recorder?: AccessRecorder;
  /** An error that the EVM mistook for a failed message. */
  hiddenFault?: unknown;
}

interface MachineOptions {
  common: Common;
  crypto: EvmCrypto;
  hashes: KeyHashes;
  /** Runs code in the EVM library's own interpreter, for comparison. */
  usesLibrary: boolean;
}

/** An EVM together with its state. Executes one block at a time. */
export class Machine {
  readonly state: WorldState;
  readonly #createVm: () => Promise<VM>;
  #vm: VM;
  readonly #inputs: MachineInputs;
  /** Set once precompiles may have been changed. */
  #originalPrecompiles: Precompiles | undefined;

  /** If `isLimited` is true, execution is subject to a `budget`. */
  static async create({ common, crypto, hashes, usesLibrary }: MachineOptions, isLimited: boolean): Promise<Machine> {
    const state = new WorldState(crypto.keccak, hashes);
    const inputs: MachineInputs = common.isActivatedEIP(7928) ? { recorder: new AccessRecorder() } : {};
    const host = {
      state,
      keccak: crypto.keccak,
      blockHash: (number: bigint) => inputs.blockHashes?.at(number) ?? new Uint8Array(32),
      onJump: () => inputs.budget?.onJump(),
      recorder: () => inputs.recorder,
    };
    const blockchain = {
      getBlock: async (number: number | Uint8Array) => ({ hash: () => host.blockHash(BigInt(number as number)) }),
      putBlock: async () => {},
      shallowCopy: () => blockchain,
    };
    const jump = {
      opcode: JUMPDEST,
      opcodeName: "JUMPDEST",
      baseFee: JUMPDEST_GAS,
      logicFunction: host.onJump,
    };
    const exponentiation = exponentiationOpcode(common);
    const { precompiles } = crypto;
    const evmOptions: EVMOpts = {
      common,
      stateManager: state,
      blockchain,
      bls: precompiles.bls,
      bn254: precompiles.bn254,
      customPrecompiles: precompiles.replaced(common),
      customOpcodes: isLimited ? [exponentiation, jump] : [exponentiation],
    };
    const onMessage = (_: unknown, next: (() => void) | undefined) =>
      inputs.budget ? inputs.budget.onMessage(next!) : next!();
    const createVm = async () => {
      // `createEVM` would replace the BN254 implementation.
      const evm = usesLibrary ? new EVM(evmOptions) : new InterpretingEvm(evmOptions, host);
      const vm = await createVM({ common, stateManager: state, blockchain, evm });
      if (inputs.recorder) record(vm, inputs.recorder);
      saturateTransfers(vm);
      if (isLimited) vm.evm.events!.on("beforeMessage", onMessage);
      vm.evm.events!.on("afterMessage", ({ execResult: { exceptionError } }) => {
        if (exceptionError !== undefined && !("errorType" in exceptionError)) inputs.hiddenFault ??= exceptionError;
      });
      return vm;
    };
    return new Machine(state, createVm, await createVm(), inputs);
  }

  private constructor(state: WorldState, createVm: () => Promise<VM>, vm: VM, inputs: MachineInputs) {
    this.state = state;
    this.#createVm = createVm;
    this.#vm = vm;
    this.#inputs = inputs;
  }

  /** Replaced after an EVM fault. */
  get vm(): VM {
    return this.#vm;
  }

  /**
   * Executes a transaction. If `execute` throws, reverts the state. Errors from the EVM's own checks, which precede the
   * first state change, are thrown unchanged. Any other error becomes an `EvmFaultError`, unless there is a budget.
   */
  async attempt<T>(execute: (vm: VM) => Promise<T>): Promise<T> {
    const { state } = this;
    const { changes, openCheckpoints } = state;
    this.#inputs.hiddenFault = undefined;
    try {
      await state.checkpoint();
      const result = await execute(this.#vm);
      if (this.#inputs.hiddenFault !== undefined) throw this.#inputs.hiddenFault;
      await state.commit();
      return result;
    } catch (error) {
      state.revertTo(openCheckpoints);
      const isCheck = error instanceof EthereumJSError && state.changes === changes;
      if (isCheck || this.#inputs.budget !== undefined) throw error;
      // Interrupted messages leave state behind in the EVM, such as transient storage.
      this.#vm = await this.#createVm();
      throw new EvmFaultError(error);
    }
  }

  /** Sets the hashes that BLOCKHASH returns. */
  set blockHashes(hashes: BlockHashes) {
    this.#inputs.blockHashes = hashes;
  }

  /** Records accessed accounts and slots. Since Amsterdam. */
  get recorder(): AccessRecorder | undefined {
    return this.#inputs.recorder;
  }

  set recorder(recorder: AccessRecorder) {
    this.#inputs.recorder = recorder;
    record(this.vm, recorder);
  }

  /** Sets the execution budget. */
  set budget(budget: CallBudget | undefined) {
    this.#inputs.budget = budget;
  }

  /** Precompiles by address, in hex without prefix. Changes last until `reset`. */
  get precompiles(): Precompiles {
    const { precompiles } = this.vm.evm;
    this.#originalPrecompiles ??= new Map(precompiles);
    return precompiles;
  }

  /** Resets the EVM before it is reused. */
  reset(): void {
    this.state.open(undefined);
    this.budget = undefined;
    if (this.recorder) this.recorder = new AccessRecorder();
    if (this.#originalPrecompiles === undefined) return;
    const { precompiles } = this.vm.evm;
    precompiles.clear();
    for (const [address, precompile] of this.#originalPrecompiles) precompiles.set(address, precompile);
    this.#originalPrecompiles = undefined;
  }
}

/** Passes accesses to the recorder, instead of the EVM library's own list. */
function record({ evm }: VM, recorder: AccessRecorder): void {
  Object.assign(evm, { blockLevelAccessList: recorder.asLibraryList });
}

interface TransferringEvm {
  _addToBalance(to: { balance: bigint }, message: { value: bigint }): Promise<void>;
}

/**
 * Caps the recipient's balance at the maximum in transfers, as in all other credits. By default, a message that would
 * overflow the balance fails.
 */
function saturateTransfers({ evm }: VM): void {
  const transferring = evm as unknown as TransferringEvm;
  const add = transferring._addToBalance.bind(evm);
  transferring._addToBalance = (to, message) => {
    const headroom = MAX_BALANCE - message.value;
    if (to.balance > headroom) to.balance = headroom;
    return add(to, message);
  };
}

/** Rules for one fork and one set of blob parameters. */
export class ForkRules {
  readonly fork: ExecutionFork;
  readonly common: Common;
  readonly chainId: bigint;
  readonly depositContract: Uint8Array;
  /** Since Cancun. */
  readonly blobs: BlobParameters | undefined;
  readonly crypto: EvmCrypto;
  readonly #machineOptions: MachineOptions;
  readonly #idle: Machine[] = [];
  readonly #idleLimited: Machine[] = [];

  constructor(
    options: ChainRulesOptions,
    timestamp: number,
    { crypto, hashes, usesLibrary }: Omit<MachineOptions, "common">,
  ) {
    this.fork = forkAt(options, timestamp);
    this.blobs = this.isSince("cancun") ? blobParametersAt(options, timestamp) : undefined;
    this.common = createCommon(options.chainId, this.fork, this.blobs, crypto.custom);
    this.chainId = BigInt(options.chainId);
    this.depositContract = options.depositContract;
    this.crypto = crypto;
    this.#machineOptions = { common: this.common, crypto, hashes, usesLibrary };
  }

  isSince(fork: ExecutionFork): boolean {
    return EXECUTION_FORKS.indexOf(this.fork) >= EXECUTION_FORKS.indexOf(fork);
  }

  get maxBlobGas(): bigint {
    return BigInt(this.blobs?.max ?? 0) * GAS_PER_BLOB;
  }

  /** Maximum gas for the execution of a transaction (EIP-7825). Since Osaka. */
  get maxTransactionGas(): bigint {
    return this.common.param("maxTransactionGasLimit");
  }

  /** Gas used by the cheapest transaction. */
  get minTransactionGas(): bigint {
    return this.isSince("amsterdam") ? AMSTERDAM_TRANSACTION_GAS : TRANSACTION_GAS;
  }

  /** Maximum RLP size of a block. */
  get maxBlockSize(): number {
    return this.isSince("osaka") ? MAX_BLOCK_SIZE : Number.POSITIVE_INFINITY;
  }

  /** Runs `work` with exclusive use of an EVM. */
  withMachine<T>(work: (machine: Machine) => Promise<T>): Promise<T> {
    return this.#with(this.#idle, false, work);
  }

  /** Runs a call within a budget, with exclusive use of an EVM. */
  withLimitedMachine<T>(budget: CallBudget, work: (machine: Machine) => Promise<T>): Promise<T> {
    return this.#with(this.#idleLimited, true, (machine) => {
      machine.budget = budget;
      return work(machine);
    });
  }

  /**
   * Reuses idle machines, because creating a VM takes half a millisecond. Discards a machine whose work failed, because
   * its state may be inconsistent.
   */
  async #with<T>(idle: Machine[], isLimited: boolean, work: (machine: Machine) => Promise<T>): Promise<T> {
    const machine = idle.pop() ?? (await Machine.create(this.#machineOptions, isLimited));
    const result = await work(machine);
    machine.reset();
    idle.push(machine);
    return result;
  }
}

/** A chain's rules by timestamp. */
export class ChainRules {
  readonly crypto: EvmCrypto;
  readonly #options: ChainRulesOptions;
  readonly #hashes: KeyHashes;
  readonly #usesLibrary: boolean;
  readonly #rules = new Map<string, ForkRules>();

  /** If `usesLibrary` is true, runs code in the EVM library's own interpreter, for comparison. */
  constructor(options: ChainRulesOptions, crypto: EvmCrypto, { usesLibrary = false } = {}) {
    this.#options = options;
    this.crypto = crypto;
    this.#hashes = new KeyHashes(crypto.keccak);
    this.#usesLibrary = usesLibrary;
  }

  /** Times at which the rules change, in ascending order. Rules that are active from genesis start at 0. */
  get changes(): number[] {
    return changesOf(this.#options);
  }

  /** Returns the number of the slot that starts at the timestamp; null if the slots are unknown. */
  slotAt(timestamp: number): number | null {
    const { slots } = this.#options;
    return slots ? Math.floor((timestamp - slots.genesisTime) / slots.seconds) : null;
  }

  at(timestamp: number | bigint): ForkRules {
    const time = Number(timestamp);
    const key = `${forkAt(this.#options, time)}/${blobParametersAt(this.#options, time)?.timestamp}`;
    let rules = this.#rules.get(key);
    if (rules === undefined) {
      const { crypto } = this;
      rules = new ForkRules(this.#options, time, { crypto, hashes: this.#hashes, usesLibrary: this.#usesLibrary });
      this.#rules.set(key, rules);
    }
    return rules;
  }
}

function createCommon(
  chainId: number,
  fork: ExecutionFork,
  blobs: BlobParameters | undefined,
  customCrypto: CustomCrypto,
): Common {
  const later = EXECUTION_FORKS.slice(0, EXECUTION_FORKS.indexOf(fork) + 1);
  const chain: ChainConfig = {
    name: "fanal",
    chainId,
    defaultHardfork: fork,
    genesis: { gasLimit: 0, difficulty: 0, nonce: "0x0000000000000000", extraData: "0x" },
    hardforks: [...EARLY_FORKS, ...later].map((name) => ({ name, block: 0 })),
    bootstrapNodes: [],
    consensus: { type: "pos", algorithm: "casper" },
  };
  const params = blobs && {
    [fork]: {
      targetBlobGasPerBlock: blobs.target * Number(GAS_PER_BLOB),
      maxBlobGasPerBlock: blobs.max * Number(GAS_PER_BLOB),
      blobGasPriceUpdateFraction: Number(blobs.updateFraction),
    },
  };
  return share(new Common({ chain, hardfork: fork, params, customCrypto }));
}

/**
 * Makes all transactions and VMs of a fork share a single Common. By default, each transaction and VM copies the Common
 * and merges its own parameters into the copy, which dominates the cost of creating a transaction. The fork of a shared
 * Common must not be changed.
 */
function share(common: Common): Common {
  const merged = new Set<unknown>();
  const values = new Map<string, bigint>();
  const eips = new Map<number, boolean>();
  const { updateParams, param, isActivatedEIP } = common;
  return Object.assign(common, {
    copy: () => common,
    updateParams: (params: Parameters<Common["updateParams"]>[0]) => {
      if (merged.has(params)) return;
      merged.add(params);
      values.clear();
      updateParams.call(common, params);
    },
    param: (name: string) => {
      let value = values.get(name);
      if (value === undefined) {
        value = param.call(common, name);
        values.set(name, value);
      }
      return value;
    },
    isActivatedEIP: (eip: number) => {
      let isActive = eips.get(eip);
      if (isActive === undefined) {
        isActive = isActivatedEIP.call(common, eip);
        eips.set(eip, isActive);
      }
      return isActive;
    },
  });
}
