import { createHash } from "node:crypto";
import { EPOCHS_PER_ETH1_VOTING_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeTimeAtSlot } from "@lodestar/state-transition";
import type { phase0, Slot } from "@lodestar/types";
import { byteArrayEquals, toHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { isBridgeRetired } from "../../chain/eth1/eth1-vote.ts";
import { SerialQueue } from "../../chain/serial-queue.ts";
import type { Eth1Block } from "../../execution/eth1/deposit-chain.ts";
import type { LoggedDeposit } from "../../execution/eth1/deposit-log.ts";
import type { Eth1Header } from "../../execution/eth1/eth1-node.ts";

/** In slots. */
export const VOTING_PERIOD = EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH;

/** Nothing is forgotten: there are few blocks, and they tell of all deposits. */
const NEVER = 0;

interface DepositLogParts {
  chain: BeaconChain;
  /** The deposits of the validators that the chain began with. */
  genesisDeposits(): phase0.DepositData[];
}

/**
 * The deposit chain of a dev chain that has none elsewhere, for the forks before electra: it begins with the deposits of the
 * genesis, and has a block whenever a deposit is made, and one at the start of each voting period while deposits wait to be
 * voted for. Nobody ever reorganizes it, so that votes keep no distance.
 */
export class DepositLog {
  readonly #parts: DepositLogParts;
  readonly #changes = new SerialQueue();

  constructor(parts: DepositLogParts) {
    this.#parts = parts;
  }

  add(deposits: readonly phase0.DepositData[]): Promise<void> {
    const { chain } = this.#parts;
    return this.#changes.run(async () => {
      if (!chain.eth1.deposits.newest) await this.#begin();
      await this.#extend(Math.floor(chain.clock.nowSeconds()), deposits);
    });
  }

  /** All deposits since the genesis. */
  async deposits(): Promise<phase0.DepositData[]> {
    const [, ...blocks] = await this.#parts.chain.eth1.deposits.blocksWithDeposits();
    return blocks.flatMap(({ deposits }) => deposits);
  }

  /** To be told of a slot before anybody proposes in it. */
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

  /** The first block has the deposits of the genesis. */
  async #begin(): Promise<void> {
    const { chain, genesisDeposits } = this.#parts;
    const { blockHash, depositRoot } = chain.headState.eth1Data;
    const header = { number: 0, hash: toHex(blockHash), parentHash: hashOf(-1), timestamp: chain.genesis.time };
    const extension = chain.eth1.deposits.extension([header], logged(genesisDeposits(), 0, header));
    if (!byteArrayEquals(extension.tree.root, depositRoot)) {
      throw new Error("The deposits of the genesis are others than the chain has agreed on.");
    }
    await chain.eth1.deposits.extend(extension, NEVER);
  }

  /** What a final state has agreed on stays, once it has all its deposits. */
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
    await log.extend(log.extension([header], logged(deposits, log.depositCount, header)), NEVER);
  }
}

function logged(deposits: readonly phase0.DepositData[], first: number, block: Eth1Header): LoggedDeposit[] {
  return deposits.map((data, n) => ({ index: first + n, data, blockNumber: block.number, blockHash: block.hash }));
}

function hashOf(blockNumber: number): string {
  return `0x${createHash("sha256").update(`fanal dev deposit chain ${blockNumber}`).digest("hex")}`;
}
