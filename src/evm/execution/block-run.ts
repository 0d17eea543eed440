import { txExceedsAvailableBlockGas8037 } from "@ethereumjs/evm";
import { type RunTxResult, runTx } from "@ethereumjs/vm";
import { isImpersonated } from "../overrides/impersonation.ts";
import { encodeBytes, encodeList, encodeNumber } from "../rlp.ts";
import type { World } from "../state/world.ts";
import { AccessList } from "./access-list.ts";
import type { ExecutedBlock, Withdrawal } from "./block.ts";
import { type BlockEnvironment, type EvmBlock, evmBlock } from "./evm-block.ts";
import { GAS_PER_BLOB } from "./forks.ts";
import { EMPTY_BLOOM, type Receipt } from "./receipt.ts";
import type { ForkRules, Machine } from "./rules.ts";
import type { SystemContracts } from "./system-contracts.ts";
import { blobCountOf, type Transaction } from "./transaction.ts";

/** Result of executing a block. */
export interface BlockResult {
  world: World;
  openWorld: World;
  receipts: Receipt[];
  transactions: Transaction[];
  /** Since Prague. */
  requests: Uint8Array[] | undefined;
  /** Since Amsterdam. */
  blockAccessList: Uint8Array | undefined;
  /** Gas used according to the header. */
  gasUsed: bigint;
  blobGasUsed: bigint;
  /** Total tips in wei. */
  value: bigint;
}

/** Checks to skip for simulated transactions. */
interface Leniency {
  /** Allows any nonce. */
  skipNonce?: boolean;
  /** Allows a transaction without a gas price despite the base fee. */
  skipBaseFee?: boolean;
}

const WEI_PER_GWEI = 10n ** 9n;

/** Executes a single block, transaction by transaction. */
export class BlockRun {
  readonly #machine: Machine;
  readonly #rules: ForkRules;
  readonly #contracts: SystemContracts;
  readonly #environment: BlockEnvironment;
  readonly #blobBaseFee: bigint | undefined;
  readonly #block: EvmBlock;
  /** Since Amsterdam. */
  readonly #accessList: AccessList | undefined;
  readonly #transactions: Transaction[] = [];
  readonly #receipts: Receipt[] = [];
  /** Gas that the senders paid for. */
  #gasPaid = 0n;
  /** Gas before refunds (EIP-7778), since Amsterdam without the gas for new state (EIP-8037). */
  #executionGas = 0n;
  #stateGas = 0n;
  #blobGasUsed = 0n;
  #value = 0n;

  /** Opens the state after the parent and calls the system contracts that run before the transactions. */
  static async start(
    machine: Machine,
    rules: ForkRules,
    contracts: SystemContracts,
    parent: ExecutedBlock,
    environment: BlockEnvironment,
    blobBaseFee?: bigint,
  ): Promise<BlockRun> {
    machine.state.open(parent.world);
    machine.blockHashes = parent.blockHashes;
    const run = new BlockRun(machine, rules, contracts, environment, blobBaseFee, accessListAfter(parent, machine));
    const { timestamp, number, parentHash, parentBeaconBlockRoot } = environment;
    if (parentBeaconBlockRoot !== undefined) {
      await contracts.storeBeaconRoot(machine, run.#block, timestamp, parentBeaconBlockRoot);
    }
    if (rules.isSince("prague")) await contracts.storeParentHash(machine, run.#block, number, parentHash);
    run.#endPhase();
    return run;
  }

  private constructor(
    machine: Machine,
    rules: ForkRules,
    contracts: SystemContracts,
    environment: BlockEnvironment,
    blobBaseFee: bigint | undefined,
    accessList: AccessList | undefined,
  ) {
    this.#machine = machine;
    this.#rules = rules;
    this.#contracts = contracts;
    this.#environment = environment;
    this.#blobBaseFee = blobBaseFee;
    this.#accessList = accessList;
    this.#block = this.#blockWith(environment.baseFeePerGas);
  }

  get gasLeft(): bigint {
    return this.#environment.gasLimit - this.#gasUsed;
  }

  /** Gas used according to the header: since Amsterdam, the larger of both dimensions (EIP-8037). */
  get #gasUsed(): bigint {
    if (this.#executionGas < this.#stateGas) return this.#stateGas;
    return this.#executionGas;
  }

  get blobGasLeft(): bigint {
    return this.#rules.maxBlobGas - this.#blobGasUsed;
  }

  /**
   * Executes a transaction. If the block cannot include the transaction, throws and leaves the block unchanged. Throws
   * an `EvmFaultError` if the EVM itself failed.
   */
  async apply(transaction: Transaction, leniency: Leniency = {}): Promise<RunTxResult> {
    const { tx } = transaction;
    this.#requireGasLeft(tx.gasLimit);
    const blobGas = BigInt(blobCountOf(tx)) * GAS_PER_BLOB;
    if (blobGas > this.blobGasLeft) {
      throw new Error(`blob gas ${blobGas} is above the ${this.blobGasLeft} blob gas left in the block`);
    }
    const result = await this.#run(transaction, leniency);
    this.#endPhase();
    const gasUsed = result.totalGasSpent;
    this.#gasPaid += gasUsed;
    this.#executionGas += result.txRegularGas ?? gasUsed;
    this.#stateGas += result.txStateGas ?? 0n;
    this.#blobGasUsed += blobGas;
    this.#value += result.minerValue;
    this.#transactions.push(transaction);
    const { logs, bitvector } = result.receipt;
    this.#receipts.push({
      type: tx.type,
      succeeded: result.execResult.exceptionError === undefined,
      gasUsed,
      cumulativeGasUsed: this.#gasPaid,
      effectiveGasPrice: result.amountSpent / gasUsed,
      logs: logs.map(([address, topics, data]) => ({ address, topics, data })),
      logsBloom: logs.length === 0 ? EMPTY_BLOOM : bitvector,
      ...(tx.to === undefined && { contractAddress: createdAddress(transaction, this.#rules) }),
    });
    return result;
  }

  #requireGasLeft(gasLimit: bigint): void {
    const { gasLeft } = this;
    if (!this.#rules.isSince("amsterdam")) {
      if (gasLimit > gasLeft) throw new Error(`gas limit ${gasLimit} is above the ${gasLeft} gas left in the block`);
      return;
    }
    const cap = this.#rules.maxTransactionGas;
    const limit = this.#environment.gasLimit;
    if (!txExceedsAvailableBlockGas8037(gasLimit, cap, limit, this.#executionGas, this.#stateGas)) return;
    const left = `${limit - this.#executionGas} execution gas and ${limit - this.#stateGas} state gas`;
    throw new Error(`gas limit ${gasLimit} is above the ${left} left in the block`);
  }

  /** Ends a phase of the block's access list. */
  #endPhase(): void {
    this.#accessList?.endPhase(this.#machine.state);
  }

  /** Executes a transaction. An impersonated sender may be a contract. */
  async #run({ tx, sender }: Transaction, { skipNonce = false, skipBaseFee }: Leniency): Promise<RunTxResult> {
    const { state } = this.#machine;
    const isForeign = isImpersonated(tx);
    if (isForeign) state.allowSenderWithCode(sender.bytes);
    const block = skipBaseFee ? this.#blockWith(0n) : this.#block;
    // The library compares the base fee with the gas price before the first message. From then on, BASEFEE must return
    // the actual base fee.
    const showBaseFee = () => Object.assign(block.header, { baseFeePerGas: this.#environment.baseFeePerGas });
    const options = { block, blockGasUsed: this.#gasPaid, skipHardForkValidation: true, skipNonce };
    return this.#machine.attempt(async (vm) => {
      if (skipBaseFee) vm.evm.events!.on("beforeMessage", showBaseFee);
      // A rejected transaction accesses nothing.
      this.#accessList?.discardPhase();
      try {
        return await runTx(vm, { tx, ...options });
      } finally {
        if (skipBaseFee) vm.evm.events!.off("beforeMessage", showBaseFee);
        if (isForeign) state.forbidSenderWithCode();
      }
    });
  }

  #blockWith(baseFeePerGas: bigint): EvmBlock {
    return evmBlock({ ...this.#environment, baseFeePerGas }, this.#rules, this.#blobBaseFee);
  }

  /** Credits withdrawals, calls the request contracts and seals the state. */
  async finish(withdrawals: readonly Withdrawal[] | undefined): Promise<BlockResult> {
    const { state } = this.#machine;
    const openWorld = state.seal();
    // Those of a rejected transaction.
    this.#accessList?.discardPhase();
    for (const { address, amount } of withdrawals ?? []) {
      this.#accessList?.recorder.touch(address);
      state.credit(address, amount * WEI_PER_GWEI);
    }
    const executed = this.#receipts.map((receipt, index) => ({ transaction: this.#transactions[index]!, receipt }));
    const requests = this.#rules.isSince("prague")
      ? await this.#contracts.collectRequests(this.#machine, this.#block, this.#rules, executed)
      : undefined;
    this.#endPhase();
    this.#accessList?.requireFits(this.#environment.gasLimit);
    return {
      world: state.seal(),
      openWorld,
      receipts: this.#receipts,
      transactions: this.#transactions,
      requests,
      blockAccessList: this.#accessList?.encode(),
      gasUsed: this.#gasUsed,
      blobGasUsed: this.#blobGasUsed,
      value: this.#value,
    };
  }
}

/** Returns the address of the contract that a transaction creates if it succeeds. */
function createdAddress({ sender, tx }: Transaction, { crypto }: ForkRules): Uint8Array {
  return crypto.keccak(encodeList([encodeBytes(sender.bytes), encodeNumber(tx.nonce)])).slice(12);
}

/** Starts the access list of a block. Changes by overrides count as changes of the first phase. */
function accessListAfter(parent: ExecutedBlock, machine: Machine): AccessList | undefined {
  if (machine.recorder === undefined) return undefined;
  const { world, changes } = parent.overridden ?? { world: parent.world, changes: [] };
  const list = new AccessList(machine.state.viewOf(world));
  for (const { address, storage } of changes) {
    if (storage === undefined) list.recorder.touch(address);
    else list.recorder.touchSlot(address, storage[0]);
  }
  machine.recorder = list.recorder;
  return list;
}
