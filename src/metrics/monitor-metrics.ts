import type { Tally } from "../chain/monitor/tally.ts";
import type { ValidatorMonitor } from "../chain/monitor/validator-monitor.ts";
import type { Instruments } from "./instruments.ts";

/** Label for the sum over all monitored validators, as in Lighthouse. */
const TOTAL = "total";
const STATUSES = ["unknown", "pending", "active", "exited", "withdrawable"] as const;

type Outcomes = Readonly<Record<"included" | "missed", number>>;

/**
 * Adds the metrics for `--monitor-validators`: totals and, unless there are too many validators, one series for each.
 */
export function addMonitorMetrics(instruments: Instruments, monitor: ValidatorMonitor): void {
  const tallies = (): [validator: string, tally: Tally][] => [
    [TOTAL, monitor.total],
    ...[...monitor.single].map(([validator, tally]): [string, Tally] => [String(validator), tally]),
  ];
  const byValidator = (read: (tally: Tally) => number) => () =>
    tallies().map(([validator, tally]) => [{ validator }, read(tally)] as const);
  const byOutcome = (read: (tally: Tally) => Outcomes) => () =>
    tallies().flatMap(([validator, tally]) =>
      Object.entries(read(tally)).map(([outcome, count]) => [{ validator, outcome }, count] as const),
    );

  instruments.gauges(
    "fanal_monitor_validators",
    "Monitored validators by status: unknown (not on the chain yet), pending, active, exited or withdrawable",
    ["status"],
    () => [...statusCounts(monitor)].map(([status, count]) => [{ status }, count] as const),
  );
  instruments.gauge(
    "fanal_monitor_epoch",
    "Last reviewed epoch; an epoch is reviewed when the next one has ended",
    () => monitor.reviewedEpoch ?? 0,
  );
  instruments.totals(
    "fanal_monitor_attestations_total",
    "Expected attestations by outcome: included in a canonical block, or missed",
    ["validator", "outcome"],
    byOutcome(({ attestations }) => attestations),
  );
  instruments.totals(
    "fanal_monitor_attestations_seen_total",
    "Unaggregated attestations received by gossip or from a validator client",
    ["validator"],
    byValidator(({ attestationsSeen }) => attestationsSeen),
  );
  instruments.totals(
    "fanal_monitor_inclusion_distance_slots_total",
    "Sum of the inclusion distances of attestations; at best 1 each",
    ["validator"],
    byValidator(({ inclusionDistance }) => inclusionDistance),
  );
  instruments.totals(
    "fanal_monitor_correct_votes_total",
    "Attestations with a timely correct vote, by vote: source, target or head",
    ["validator", "vote"],
    () =>
      tallies().flatMap(([validator, { correctVotes }]) =>
        Object.entries(correctVotes).map(([vote, count]) => [{ validator, vote }, count] as const),
      ),
  );
  instruments.totals(
    "fanal_monitor_proposals_total",
    "Expected proposals by outcome: included in the canonical chain, or missed",
    ["validator", "outcome"],
    byOutcome(({ proposals }) => proposals),
  );
  instruments.totals(
    "fanal_monitor_sync_signatures_total",
    "Expected sync committee signatures by outcome: included or missed",
    ["validator", "outcome"],
    byOutcome(({ syncSignatures }) => syncSignatures),
  );
  instruments.totals(
    "fanal_monitor_payload_votes_total",
    "Expected votes in payload timeliness committees by outcome: included in the next block, or missed; from gloas on",
    ["validator", "outcome"],
    byOutcome(({ payloadVotes }) => payloadVotes),
  );
  instruments.gauges(
    "fanal_monitor_balance_gwei",
    "Balance at the last review, in Gwei",
    ["validator"],
    byValidator(({ balance }) => balance),
  );
  instruments.gauges(
    "fanal_monitor_reward_gwei",
    "Balance change in the last reviewed epoch, in Gwei; withdrawals are added back, deposits count",
    ["validator"],
    byValidator(({ reward }) => reward ?? 0),
  );
  instruments.gauges(
    "fanal_monitor_slashed",
    "1 for a slashed validator, else 0; the total is their number",
    ["validator"],
    byValidator(({ slashed }) => slashed),
  );
}

function statusCounts(monitor: ValidatorMonitor): Map<(typeof STATUSES)[number], number> {
  const counts = new Map(STATUSES.map((status) => [status, 0]));
  for (const [status, count] of monitor.statusCounts()) {
    // Covers withdrawal_possible and withdrawal_done.
    const general = STATUSES.find((each) => status.startsWith(each)) ?? "withdrawable";
    counts.set(general, counts.get(general)! + count);
  }
  return counts;
}
