import { ForkSeq } from "@lodestar/params";
import type { BeaconChain } from "../chain/chain.ts";
import { DELAY_BUCKETS, type Instruments } from "./instruments.ts";
import { addPayloadMetrics } from "./payload-metrics.ts";
import { ValidatorCounts } from "./validator-counts.ts";

const IMPORT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 12];

/**
 * Adds metrics for the chain. Names without "fanal" come from github.com/ethereum/beacon-metrics. Returns a function
 * that unsubscribes from chain events.
 */
export function addChainMetrics(instruments: Instruments, chain: BeaconChain): () => void {
  addHeadMetrics(instruments, chain);
  addFinalityMetrics(instruments, chain);
  addValidatorMetrics(instruments, chain);
  addDuplicateKeyMetrics(instruments, chain);
  addPoolMetrics(instruments, chain);
  const unsubscribers = [addChainEventMetrics(instruments, chain), addPayloadMetrics(instruments, chain)];
  return () => {
    for (const unsubscribe of unsubscribers) unsubscribe();
  };
}

function addHeadMetrics(instruments: Instruments, chain: BeaconChain): void {
  const { clock, status } = chain;
  instruments.gauge("fanal_clock_slot", "Current slot by the clock", () => clock.currentSlot);
  instruments.gauge("beacon_head_slot", "Slot of the head block", () => chain.head.slot);
  instruments.gauge("beacon_head_root", "Root of the head block, as a number", () => rootNumber(chain.head.root));
  instruments.gauge("fanal_sync_distance_slots", "Slots from the head to the current slot", () => status.syncDistance);
  instruments.gauge(
    "fanal_earliest_block_slot",
    "First slot from which all blocks are stored; decreases during backfill",
    () => chain.history.earliestBlockSlot,
  );
  instruments.gauge(
    "fanal_earliest_available_slot",
    "First slot from which all blocks and required data columns or blobs are stored, as announced to peers",
    () => chain.history.earliestAvailableSlot,
  );
  instruments.gauge("fanal_head_optimistic", "1 while the head is optimistic, else 0", () =>
    Number(status.isOptimistic),
  );
  instruments.gauge("fanal_execution_offline", "1 while a required execution client is unreachable, else 0", () =>
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
    "Deposits processed by the chain of the head",
    () => chain.headState.eth1DepositIndex,
  );
  instruments.gauges(
    "fanal_participation_ratio",
    "Share of the active balance with a correct target vote, by epoch: current (incomplete) or previous; from altair on",
    ["epoch"],
    () => participation(chain),
  );
}

function addDuplicateKeyMetrics(instruments: Instruments, { validation }: BeaconChain): void {
  instruments.totals(
    "fanal_duplicate_key_messages_total",
    "Signed messages that prove that a key of this node is also used elsewhere, by kind: attestation or block",
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
  instruments.gauges("fanal_pool_size", "Operations waiting for inclusion, by pool", ["pool"], () => {
    const { proposerSlashings, attesterSlashings, voluntaryExits, blsToExecutionChanges } = pools.operations.sizes;
    const sizes = {
      attestations: pools.attestations.size,
      payload_attestations: pools.payloadAttestations.size,
      sync_contributions: pools.syncCommittee.size,
      proposer_slashings: proposerSlashings,
      attester_slashings: attesterSlashings,
      voluntary_exits: voluntaryExits,
      bls_to_execution_changes: blsToExecutionChanges,
    };
    return Object.entries(sizes).map(([pool, size]) => [{ pool }, size] as const);
  });
}

/** Adds metrics for chain events. Returns a function that unsubscribes. */
function addChainEventMetrics(instruments: Instruments, { events, clock, status }: BeaconChain): () => void {
  const reorgs = instruments.counter("beacon_reorgs_total", "Reorgs of the chain");
  const blocks = instruments.counter("fanal_blocks_imported_total", "Imported blocks");
  const importSeconds = instruments.histogram(
    "fanal_block_import_seconds",
    "Duration of block imports, except for segments of range sync",
    IMPORT_BUCKETS,
  );
  const delay = instruments.histogram(
    "fanal_block_delay_seconds",
    "Delay from the start of the slot until its block was imported, in chain time",
    DELAY_BUCKETS,
  );
  const missed = instruments.counter(
    "fanal_missed_slots_total",
    "Slots without a canonical block while the node was synced",
  );
  const unsubscribers = [
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
    for (const unsubscribe of unsubscribers) unsubscribe();
  };
}

/** Converts a root to the signed integer in its last eight bytes, as specified by beacon-metrics. */
function rootNumber(root: string): number {
  return bytesNumber(Buffer.from(root.slice(2), "hex"));
}

function bytesNumber(root: Uint8Array): number {
  return Number(Buffer.from(root).readBigInt64LE(24));
}
