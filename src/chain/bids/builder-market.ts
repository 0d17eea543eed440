import type { CachedBeaconStateGloas } from "@lodestar/state-transition";
import type { gloas, PubkeyHex } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { type Builder, BuilderError } from "../../execution/builder/builder.ts";
import type { BuilderEntry, BuilderPreferenceEntry } from "../../execution/builder/request-auth.ts";
import type { Logger } from "../../log/logger.ts";
import { type BidExpectation, faultOfExecutionBid, verifyBidSignature } from "./bid-validation.ts";
import type { WeightedBid } from "./execution-bids.ts";

interface BuilderMarketParts {
  /** Omitted if no builder is configured. */
  builder: Builder | undefined;
  bls: Pick<BlsVerifier, "verify">;
  logger: Logger;
}

/**
 * Exchanges bids and blocks of gloas with the builder directly (builder-specs, gloas). A caller names builders by URL,
 * but the node contacts only the one that its operator has configured.
 */
export class BuilderMarket {
  readonly #parts: BuilderMarketParts;

  constructor(parts: BuilderMarketParts) {
    this.#parts = parts;
  }

  /** Requests a bid for each entry. Leaves out the bids that the entry or the block does not allow. Never rejects. */
  async bidsFor(entries: readonly BuilderEntry[], expectation: BidExpectation): Promise<WeightedBid[]> {
    const bids = await Promise.all(entries.map((entry) => this.#bidFor(entry, expectation)));
    return bids.filter((bid) => bid !== null);
  }

  /** Sends a signed block to the builder whose bid it has. Never rejects: the block is broadcast anyway. */
  async submitBlock(url: string, signed: gloas.SignedBeaconBlock): Promise<void> {
    const { logger } = this.#parts;
    const { slot } = signed.message;
    try {
      await this.#builderAt(url).submitBlock(signed);
    } catch (error) {
      if (!(error instanceof BuilderError)) throw error;
      logger.warn("Builder did not accept the block with its bid", { slot, reason: error.message });
    }
  }

  /** Throws a `BuilderError` if the builder does not accept the preferences. */
  async submitPreferences(pubkey: PubkeyHex, entry: BuilderPreferenceEntry): Promise<void> {
    await this.#builderAt(urlOf(entry)).submitPreferences(pubkey, entry);
  }

  async #bidFor(entry: BuilderEntry, expectation: BidExpectation): Promise<WeightedBid | null> {
    const { logger } = this.#parts;
    const { parentRoot, base } = expectation;
    const { slot, epochCtx, validators } = base.operationState;
    const proposerPubkey = validators.getReadonly(epochCtx.getBeaconProposer(slot)).pubkey;
    try {
      const parentHash = toRootHex(base.parent.blockHash);
      const builder = this.#builderAt(urlOf(entry));
      const signed = await builder.getExecutionBid({ slot, parentHash, parentRoot, proposerPubkey }, entry.auth);
      if (signed === null) return null;
      const fault = await this.#faultOf(signed, entry, expectation);
      if (fault === undefined) return { signed, boostFactor: entry.builderBoostFactor, url: urlOf(entry) };
      logger.warn("Rejected bid from builder", { slot, reason: fault });
    } catch (error) {
      if (!(error instanceof BuilderError)) throw error;
      logger.warn("Builder made no bid", { slot, reason: error.message });
    }
    return null;
  }

  async #faultOf(
    signed: gloas.SignedExecutionPayloadBid,
    { pubkey, maxExecutionPayment, minBid }: BuilderEntry,
    expectation: BidExpectation,
  ): Promise<string | undefined> {
    const { value, executionPayment, builderIndex } = signed.message;
    const fault = faultOfExecutionBid(signed.message, expectation, maxExecutionPayment);
    if (fault !== undefined) return fault;
    const total = BigInt(value) + executionPayment;
    if (total < minBid) return `The bid pays ${total} Gwei, less than the minimum of ${minBid}.`;
    const { builders } = expectation.base.operationState as CachedBeaconStateGloas;
    const isNamed = pubkey.some((byte) => byte !== 0);
    if (isNamed && !byteArrayEquals(builders.getReadonly(builderIndex).pubkey, pubkey)) {
      return `The bid is from builder ${builderIndex}, which has another public key than the entry.`;
    }
    const isSigned = await verifyBidSignature(this.#parts.bls, expectation.base.operationState, signed);
    return isSigned ? undefined : `The bid is not signed by builder ${builderIndex}.`;
  }

  /** Throws a `BuilderError` if it is not the URL of the configured builder. */
  #builderAt(url: string): Builder {
    const { builder } = this.#parts;
    if (builder && URL.canParse(url) && new URL(url).origin === builder.origin) return builder;
    throw new BuilderError(`The node contacts only the builder of --builder, not ${url}.`);
  }
}

const urlOf = ({ url }: { url: Uint8Array }): string => Buffer.from(url).toString("utf8");
