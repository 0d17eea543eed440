import { ForkSeq } from "@lodestar/params";
import type { BeaconChain } from "../chain/chain.ts";
import type { Instruments } from "./instruments.ts";
import { ValidatorCounts } from "./validator-counts.ts";

const IMPORT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 12];
const DELAY_BUCKETS = [0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 12];

/** The names without "fanal" are those of the clients' common list: github.com/ethereum/beacon-metrics. */
export function addChainMetrics(instruments: Instruments, chain: BeaconChain): () => void {
  addHeadMetrics(instruments, chain);
  addFinalityMetrics(instruments, chain);
  addValidatorMetrics(instruments, chain);
  addDuplicateMetrics(instruments, chain);
  addPoolMetrics(instruments, chain);
  return followChain(instruments, chain);
}

function addHeadMetrics(instruments: Instruments, chain: BeaconChain): void {
  const { clock, status } = chain;
  instruments.gauge("fanal_clock_slot", "Current slot by the clock", () => clock.currentSlot);
  instruments.gauge("beacon_head_slot", "Slot of the head block", () => chain.head.slot);
  instruments.gauge("beacon_head_root", "Root of the head block, as a number", () => rootNumber(chain.head.root));
  instruments.gauge(
    "fanal_sync_distance_slots",
    "Slots from the head to the current one, which may all be empty",
    () => status.syncDistance,
  );
  instruments.gauge(
    "fanal_earliest_block_slot",
    "The slot from which on all blocks are held; it falls while history is fetched",
    () => chain.history.earliestBlockSlot,
  );
  instruments.gauge(
    "fanal_earliest_available_slot",
    "The slot from which on all blocks are held and all data that has to be served, as peers are told",
    () => chain.history.earliestAvailableSlot,
  );
  instruments.gauge("fanal_head_optimistic", "1 while the payload of the head is not known to be valid, else 0", () =>
    Number(status.isOptimistic),
  );
  instruments.gauge("fanal_execution_offline", "1 while the execution engine is needed and not reached, else 0", () =>
    Number(status.executionOffline),
  );
}

function addFinalityMetrics(instruments: Instruments, chain: BeaconChain): void {
  const current = () => chain.headState.currentJustifiedCheckpoint;
  const previous = () => chain.headState.previousJustifiedCheckpoint;
  instruments.gauge("beacon_finalized_epoch", "Finalized epoch", () => chain.finalizedCheckpoint.epoch);
  instruments.gauge("beacon_finalized_root", "Root of the finalized block, as a number", () =>
    rootNumber(chain.finalizedCheckpoint.root),
  );
  instruments.gauge("beacon_current_justified_epoch", "Justified epoch of the head state", () => current().epoch);
  instruments.gauge("beacon_current_justified_root", "Root of the justified block of the head state, as a number", () =>
    bytesNumber(current().root),
  );
  instruments.gauge(
    "beacon_previous_justified_epoch",
    "Previously justified epoch of the head state",
    () => previous().epoch,
  );
  instruments.gauge(
    "beacon_previous_justified_root",
    "Root of the previously justified block of the head state, as a number",
    () => bytesNumber(previous().root),
  );
}

function addValidatorMetrics(instruments: Instruments, chain: BeaconChain): void {
  const counts = new ValidatorCounts();
  instruments.gauge(
    "beacon_current_active_validators",
    "Active validators in the epoch of the head",
    () => chain.headState.epochCtx.currentShuffling.activeIndices.length,
  );
  instruments.gauges(
    "beacon_current_validators",
    "Validators in the epoch of the head, by status: pending, active, exited or withdrawable",
    ["status"],
    async () => Object.entries(await counts.of(chain.headState)).map(([status, count]) => [{ status }, count] as const),
  );
  instruments.total(
    "beacon_processed_deposits_total",
    "Deposits of the deposit contract that the chain of the head has processed",
    () => chain.headState.eth1DepositIndex,
  );
  instruments.gauges(
    "fanal_participation_ratio",
    "Share of the active balance that voted for the right target, by epoch: current, which grows until it is over, or previous; from altair on",
    ["epoch"],
    () => participation(chain),
  );
}

function addDuplicateMetrics(instruments: Instruments, { validation }: BeaconChain): void {
  instruments.totals(
    "fanal_duplicate_key_messages_total",
    "Signed messages which prove that a validator of this node also runs elsewhere, by kind: attestation or block",
    ["kind"],
    () => Object.entries(validation.duplicates.counts).map(([kind, count]) => [{ kind }, count] as const),
  );
}

function participation({ headState, config }: BeaconChain) {
  if (config.getForkSeq(headState.slot) < ForkSeq.altair) return [];
  const { totalActiveBalanceIncrements: total, ...votes } = headState.epochCtx;
  return [
    [{ epoch: "current" }, votes.currentTargetUnslashedBalanceIncrements / total] as const,
    [{ epoch: "previous" }, votes.previousTargetUnslashedBalanceIncrements / total] as const,
  ];
}

function addPoolMetrics(instruments: Instruments, { pools }: BeaconChain): void {
  instruments.gauges("fanal_pool_size", "What waits for a block, by pool", ["pool"], () => {
    const { proposerSlashings, attesterSlashings, voluntaryExits, blsToExecutionChanges } = pools.operations.sizes;
    const sizes = {
      attestations: pools.attestations.size,
      sync_contributions: pools.syncCommittee.size,
      proposer_slashings: proposerSlashings,
      attester_slashings: attesterSlashings,
      voluntary_exits: voluntaryExits,
      bls_to_execution_changes: blsToExecutionChanges,
    };
    return Object.entries(sizes).map(([pool, size]) => [{ pool }, size] as const);
  });
}

/** Counts what happens from now on, until the returned function is called. */
function followChain(instruments: Instruments, { events, clock, status }: BeaconChain): () => void {
  const reorgs = instruments.counter("beacon_reorgs_total", "Reorganisations of the chain");
  const blocks = instruments.counter("fanal_blocks_imported_total", "Blocks that were taken onto the chain");
  const importSeconds = instruments.histogram(
    "fanal_block_import_seconds",
    "How long it took to take a block onto the chain, but for those that syncing brings in runs",
    IMPORT_BUCKETS,
  );
  const delay = instruments.histogram(
    "fanal_block_delay_seconds",
    "How long after the beginning of its slot, in chain time, a block of the current slot was on the chain",
    DELAY_BUCKETS,
  );
  const missed = instruments.counter(
    "fanal_missed_slots_total",
    "Slots that were over without a block at the head, while the node was synced",
  );
  const ends = [
    events.on("reorg", () => reorgs.inc()),
    events.on("blockImported", ({ seconds }) => importSeconds.observe(seconds)),
    events.on("block", ({ slot }) => {
      blocks.inc();
      if (slot === clock.currentSlot) delay.observe(clock.nowSeconds() - clock.slotStartSeconds(slot));
    }),
    clock.onSlot(() => {
      if (status.syncDistance > 1 && !status.isSyncing) missed.inc();
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** The common list has roots as signed numbers of their last eight bytes, which a dashboard can compare. */
function rootNumber(root: string): number {
  return bytesNumber(Buffer.from(root.slice(2), "hex"));
}

function bytesNumber(root: Uint8Array): number {
  return Number(Buffer.from(root).readBigInt64LE(24));
}
