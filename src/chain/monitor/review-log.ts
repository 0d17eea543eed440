import { FAR_FUTURE_EPOCH } from "@lodestar/params";
import type { Epoch, ValidatorIndex } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { ValidatorReview } from "./epoch-review.ts";
import type { Tally } from "./tally.ts";

type Reviews = ReadonlyMap<ValidatorIndex, ValidatorReview>;

interface ToldReview {
  epoch: Epoch;
  /** Of this epoch alone. */
  total: Tally;
  reviews: Reviews;
  /** The reviews of the epoch before, if any. */
  before: Reviews | undefined;
}

const MOST_IN_LOG = 10;

/** Logs one summary of an epoch, and a warning for each thing that went wrong in it. */
export function tellOfReview(logger: Logger, review: ToldReview): void {
  logger.info("Validator summary", summaryFields(review));
  tellOfMissedProposals(logger, review);
  tellOfMissedAttestations(logger, review);
  tellOfChanges(logger, review);
}

function summaryFields({ epoch, total, reviews }: ToldReview): Record<string, unknown> {
  const { attestations, inclusionDistance, correctVotes, proposals, syncSignatures, balance, reward } = total;
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
    balanceGwei: balance,
    changeGwei: reward,
  };
}

/** Bounded, since all proposals of an epoch can be of monitored validators while nothing works. */
function tellOfMissedProposals(logger: Logger, { epoch, total, reviews }: ToldReview): void {
  const missed = [...reviews].flatMap(([validator, { missedProposals }]) =>
    missedProposals.map((slot) => ({ validator, slot })),
  );
  for (const { validator, slot } of missed.slice(0, MOST_IN_LOG)) {
    logger.warn("Monitored validator missed its proposal", { validator, slot, epoch, inEpoch: total.proposals.missed });
  }
}

/** A validator that stays away is told of once, until it has attested again. */
function tellOfMissedAttestations(logger: Logger, { epoch, total, reviews, before }: ToldReview): void {
  const isNew = [...reviews].filter(([validator, review]) => missed(review) && !missed(before?.get(validator)));
  if (isNew.length === 0) return;
  logger.warn("Monitored validators missed attestations", {
    epoch,
    missed: total.attestations.missed,
    validators: isNew
      .slice(0, MOST_IN_LOG)
      .map(([validator]) => validator)
      .join(" "),
  });
}

const missed = (review: ValidatorReview | undefined): boolean =>
  review?.attestation !== undefined && review.attestation.distance === undefined;

function tellOfChanges(logger: Logger, { reviews, before }: ToldReview): void {
  for (const [validator, { slashed, exitEpoch }] of reviews) {
    const earlier = before?.get(validator);
    if (slashed && !earlier?.slashed) logger.warn("Monitored validator was slashed", { validator, exitEpoch });
    else if (earlier && exitEpoch !== earlier.exitEpoch && exitEpoch !== FAR_FUTURE_EPOCH) {
      logger.info("Monitored validator exits", { validator, exitEpoch });
    }
  }
}
