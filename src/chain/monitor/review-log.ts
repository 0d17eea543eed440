import { FAR_FUTURE_EPOCH } from "@lodestar/params";
import type { Epoch, ValidatorIndex } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { ValidatorReview } from "./epoch-review.ts";
import type { Tally } from "./tally.ts";

type Reviews = ReadonlyMap<ValidatorIndex, ValidatorReview>;

interface LoggedReview {
  epoch: Epoch;
  /** Counters for this epoch only. */
  total: Tally;
  reviews: Reviews;
  /** Reviews of the previous epoch, if any. */
  before: Reviews | undefined;
}

const MAX_IN_LOG = 10;

/** Logs an epoch's summary and warnings about failures. */
export function logReview(logger: Logger, review: LoggedReview): void {
  logger.info("Validator summary", summaryFields(review));
  logMissedProposals(logger, review);
  logMissedAttestations(logger, review);
  logChanges(logger, review);
}

function summaryFields({ epoch, total, reviews }: LoggedReview): Record<string, unknown> {
  const { attestations, inclusionDistance, correctVotes, proposals, syncSignatures, payloadVotes, balance, reward } =
    total;
  const expected = attestations.included + attestations.missed;
  const share = ({ included, missed }: { included: number; missed: number }) =>
    included + missed === 0 ? undefined : `${included}/${included + missed}`;
  return {
    epoch,
    validators: reviews.size,
    included: `${attestations.included}/${expected}`,
    missed: attestations.missed,
    distance: attestations.included === 0 ? undefined : (inclusionDistance / attestations.included).toFixed(2),
    target: `${correctVotes.target}/${expected}`,
    head: `${correctVotes.head}/${expected}`,
    proposals: share(proposals),
    sync: share(syncSignatures),
    payloadVotes: share(payloadVotes),
    balanceGwei: balance,
    changeGwei: reward,
  };
}

/** Logs missed proposals in a bounded number of lines: in an outage, all proposals of an epoch may be missed. */
function logMissedProposals(logger: Logger, { epoch, total, reviews }: LoggedReview): void {
  const missedSlots = [...reviews].flatMap(([validator, { missedProposals }]) =>
    missedProposals.map((slot) => ({ validator, slot })),
  );
  for (const { validator, slot } of missedSlots.slice(0, MAX_IN_LOG)) {
    logger.warn("Monitored validator missed its proposal", { validator, slot, epoch, inEpoch: total.proposals.missed });
  }
}

/** Reports each validator once, and not again until it has attested. */
function logMissedAttestations(logger: Logger, { epoch, total, reviews, before }: LoggedReview): void {
  const newlyMissing = [...reviews].filter(([validator, review]) => missed(review) && !missed(before?.get(validator)));
  if (newlyMissing.length === 0) return;
  logger.warn("Monitored validators missed attestations", {
    epoch,
    missed: total.attestations.missed,
    validators: newlyMissing
      .slice(0, MAX_IN_LOG)
      .map(([validator]) => validator)
      .join(" "),
  });
}

const missed = (review: ValidatorReview | undefined): boolean =>
  review?.attestation !== undefined && review.attestation.distance === undefined;

function logChanges(logger: Logger, { reviews, before }: LoggedReview): void {
  for (const [validator, { slashed, exitEpoch }] of reviews) {
    const previousReview = before?.get(validator);
    if (slashed && !previousReview?.slashed) logger.warn("Monitored validator was slashed", { validator, exitEpoch });
    else if (previousReview && exitEpoch !== previousReview.exitEpoch && exitEpoch !== FAR_FUTURE_EPOCH) {
      logger.info("Monitored validator is exiting", { validator, exitEpoch });
    }
  }
}
