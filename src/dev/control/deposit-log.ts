import { createHash } from "node:crypto";
import { EPOCHS_PER_ETH1_VOTING_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeTimeAtSlot } from "@lodestar/state-transition";
import type { phase0, Slot } from "@lodestar/types";
import { byteArrayEquals, toHex } from "@lodestar/utils";
import { SerialQueue } from "../../async/serial-queue.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { isBridgeRetired } from "../../chain/eth1/eth1-vote.ts";
import type { Eth1Block } from "../../execution/eth1/deposit-chain.ts";
import type { LoggedDeposit } from "../../execution/eth1/deposit-log.ts";
import type { Eth1Header } from "../../execution/eth1/eth1-node.ts";

/** Length of an eth1 voting period in slots. */
export const VOTING_PERIOD = EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH;

/** Prunes nothing, since there are few blocks and all deposits are needed. */
const PRUNE_NOTHING = 0;

interface DepositLogParts {
  chain: BeaconChain;
  /** Deposits of the genesis validators. */
  genesisDeposits(): phase0.DepositData[];
}

/**
 * Simulates the deposit chain of a dev chain without a deposit contract, for forks before electra. The first block
 * holds the genesis deposits. A block is added for each deposit, and one at the start of each voting period with
 * pending deposits. The deposit chain never reorgs, so votes need no follow distance.
 */
export class DepositLog {
  readonly delaySlots = 0;
  readonly #parts: DepositLogParts;
  readonly #changes = new SerialQueue();

  constructor(parts: DepositLogParts) {
    this.#parts = parts;
  }

  add(deposits: readonly phase0.DepositData[]): Promise<void> {
    const { chain } = this.#parts;
    return this.#changes.run(async () => {
      if (!chain.eth1.deposits.newest) await this.#createFirstBlock();
      await this.#extend(Math.floor(chain.clock.nowSeconds()), deposits);
    });
  }

  /** Returns all deposits after genesis. */
  async deposits(): Promise<phase0.DepositData[]> {
    const [, ...blocks] = await this.#parts.chain.eth1.deposits.blocksWithDeposits();
    return blocks.flatMap(({ deposits }) => deposits);
  }

  /** Must run before the block of the slot is proposed. */
  async onSlot(slot: Slot): Promise<void> {
    const { chain } = this.#parts;
    const { newest } = chain.eth1.deposits;
    if (newest && slot % SLOTS_PER_EPOCH === 0) await this.#changes.run(() => this.#finalize());
    if (!newest || slot % VOTING_PERIOD !== 0) return;
    const { headState, config, genesis } = chain;
    if (isBridgeRetired(headState) || headState.eth1Data.depositCount >= newest.depositCount) return;
    const distance = config.SECONDS_PER_ETH1_BLOCK * config.ETH1_FOLLOW_DISTANCE;
    await this.#changes.run(() => this.#extend(computeTimeAtSlot(config, slot, genesis.time) - distance, []));
  }

  /** Creates the first block, which holds the genesis deposits. */
  async #createFirstBlock(): Promise<void> {
    const { chain, genesisDeposits } = this.#parts;
    const { blockHash, depositRoot } = chain.headState.eth1Data;
    const header = { number: 0, hash: toHex(blockHash), parentHash: hashOf(-1), timestamp: chain.genesis.time };
    const extension = chain.eth1.deposits.extension([header], toLoggedDeposits(genesisDeposits(), 0, header));
    if (!byteArrayEquals(extension.tree.root, depositRoot)) {
      throw new Error("The genesis deposits do not match the deposit root of the head state.");
    }
    await chain.eth1.deposits.extend(extension, PRUNE_NOTHING);
  }

  /** Finalizes the eth1 data of the finalized state once the state has processed all its deposits. */
  async #finalize(): Promise<void> {
    const { eth1, states, forkChoice } = this.#parts.chain;
    const state = await states.atCheckpoint(forkChoice.finalized);
    if (isBridgeRetired(state) || BigInt(state.eth1DepositIndex) < state.eth1Data.depositCount) return;
    await eth1.deposits.finalize(state.eth1Data.toValue());
  }

  async #extend(timestamp: number, deposits: readonly phase0.DepositData[]): Promise<void> {
    const { deposits: log } = this.#parts.chain.eth1;
    const newest = log.newest as Eth1Block;
    const number = newest.number + 1;
    const header = { number, hash: hashOf(number), parentHash: toHex(newest.hash), timestamp };
    await log.extend(log.extension([header], toLoggedDeposits(deposits, log.depositCount, header)), PRUNE_NOTHING);
  }
}

function toLoggedDeposits(deposits: readonly phase0.DepositData[], first: number, block: Eth1Header): LoggedDeposit[] {
  return deposits.map((data, n) => ({ index: first + n, data, blockNumber: block.number, blockHash: block.hash }));
}

function hashOf(blockNumber: number): string {
  return `0x${createHash("sha256").update(`fanal dev deposit chain ${blockNumber}`).digest("hex")}`;
}
