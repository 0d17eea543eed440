import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateBellatrix } from "@lodestar/state-transition";
import type { phase0, Slot } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { SerialQueue } from "../../async/serial-queue.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { executionHashOf } from "../../chain/engine/forkchoice-state.ts";
import { isBridgeRetired } from "../../chain/eth1/eth1-vote.ts";
import type { EvmRequests } from "./evm-requests.ts";

interface EvmDepositLogParts {
  chain: BeaconChain;
  requests: Pick<EvmRequests, "depositsUpTo">;
}

/**
 * Deposit chain of a chain with an EVM, for forks before electra. Validators vote for the state of the deposit contract
 * in finalized blocks, which never reorg. Reads the blocks of an epoch once they are finalized, and attributes their
 * deposits to the last of these blocks.
 */
export class EvmDepositLog {
  readonly #parts: EvmDepositLogParts;
  readonly #changes = new SerialQueue();

  constructor(parts: EvmDepositLogParts) {
    this.#parts = parts;
  }

  /**
   * Slots between a deposit and the first voting period that can take it. The deposit waits for its epoch to end and to
   * be finalized.
   */
  get delaySlots(): number {
    return SLOTS_PER_EPOCH + this.#parts.chain.config.ETH1_FOLLOW_DISTANCE;
  }

  /** Returns the deposits to the contract that the registry may not contain yet. */
  async deposits(): Promise<phase0.DepositData[]> {
    const { chain, requests } = this.#parts;
    const { deposits: log } = chain.eth1;
    const head = executionHashOf(chain.forkChoice, chain.headNode);
    if (!this.#isVoted || head === null || isBridgeRetired(chain.headState)) return [];
    const stored = (await log.blocksWithDeposits()).flatMap(({ deposits }) => deposits);
    const unfinalized = (await requests.depositsUpTo(head, log.newest?.number ?? 0)) ?? [];
    return [...stored, ...unfinalized.map(({ data }) => data)];
  }

  /** Must run before the block of the slot is proposed. */
  async onSlot(slot: Slot): Promise<void> {
    if (this.#isVoted && slot % SLOTS_PER_EPOCH === 0) await this.#changes.run(() => this.#follow());
  }

  /** False if there is no fork before electra. */
  get #isVoted(): boolean {
    return this.#parts.chain.config.ELECTRA_FORK_EPOCH > 0;
  }

  async #follow(): Promise<void> {
    const { chain, requests } = this.#parts;
    const { deposits: log } = chain.eth1;
    const state = (await chain.states.atCheckpoint(chain.forkChoice.finalized)) as CachedBeaconStateBellatrix;
    if (isBridgeRetired(state)) return;
    const { blockHash, parentHash, blockNumber, timestamp } = state.latestExecutionPayloadHeader;
    const header = { number: blockNumber, hash: toHex(blockHash), parentHash: toHex(parentHash), timestamp };
    const { newest } = log;
    if (newest && newest.number >= blockNumber) return;
    const { eth1DepositIndex, eth1Data } = state;
    if (BigInt(eth1DepositIndex) >= eth1Data.depositCount) await log.finalize(eth1Data.toValue());
    // Processed deposits no longer need votes or proofs.
    const needed = log.blocks.find(({ depositCount }) => depositCount > eth1DepositIndex);
    const logged = await requests.depositsUpTo(header.hash, newest?.number ?? 0);
    if (logged === undefined) return;
    const deposits = logged.map((each) => ({ ...each, blockNumber, blockHash: header.hash }));
    await log.extend(log.extension([header], deposits), needed?.timestamp ?? timestamp);
  }
}
