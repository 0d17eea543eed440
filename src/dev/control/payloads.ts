import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { ControlError } from "../../api/dev-control.ts";
import {
  type AffectedSlots,
  errorBeforeGloas,
  type PayloadControl,
  type PayloadDelay,
  type PayloadFault,
  type PayloadVoteRule,
  type SlotsToAffect,
} from "../../api/payload-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { BlockRejection } from "../../chain/import/block-rejection.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import type { DutyPlan, PayloadPlan, PayloadVote } from "../validators/duty-plan.ts";
import type { WithheldPayloads } from "../validators/payloads/withheld-payloads.ts";
import { SlotRanges } from "./slot-ranges.ts";
import type { DevTime } from "./time.ts";
import { resolveSelection } from "./validator-presence.ts";

/** Longest delay, in thousandths of a slot. Any closer to the end, the payload might arrive in the next slot. */
const LATEST_PER_MILLE = 990;
const BASIS_POINTS = 10_000;
/** Every range is searched in every slot. */
const MAX_SCHEDULED = 1024;

interface DevPayloadsParts {
  chain: Pick<BeaconChain, "clock" | "config" | "forkChoice" | "head">;
  keys: ValidatorKeys;
  time: Pick<DevTime, "exclusive">;
  withheld: WithheldPayloads;
  /** True if blocks may be empty for other reasons: late blocks, and builders and validators that are not the chain's. */
  hasOtherFaults(): boolean;
}

interface MemberVotes extends Omit<PayloadVoteRule, "validators"> {
  members: ReadonlySet<ValidatorIndex>;
}

/** Makes builders and committee members of a dev chain fail: payloads that are withheld, late or false, and false votes. */
export class DevPayloads implements PayloadControl {
  readonly #parts: DevPayloadsParts;
  readonly #payloads = new SlotRanges<PayloadPlan>();
  readonly #votes = new SlotRanges<MemberVotes>();

  constructor(parts: DevPayloadsParts) {
    this.#parts = parts;
  }

  capture(): () => void {
    const restore = [this.#payloads, this.#votes, this.#parts.withheld].map((part) => part.capture());
    return () => {
      for (const each of restore) each();
    };
  }

  /** Forgets all faults and withheld payloads, because another chain takes the place of this one. */
  clear(): void {
    for (const part of [this.#payloads, this.#votes, this.#parts.withheld]) part.clear();
  }

  /** Returns the part of a slot's duty plan that concerns payloads. */
  planAt(slot: Slot): Pick<DutyPlan, "payload" | "payloadVote"> {
    const rules = this.#votes.at(slot);
    return {
      payload: this.#payloads.at(slot)[0],
      payloadVote: rules.length > 0 ? (voter, honest) => voteOf(rules, voter, honest) : undefined,
    };
  }

  schedule(fault: PayloadFault, slots: SlotsToAffect): Promise<AffectedSlots> {
    return this.#parts.time.exclusive(async () => this.#add(this.#payloads, fault, slots));
  }

  delay({ slotsLate, seconds }: PayloadDelay, slots: SlotsToAffect) {
    const { clock, config } = this.#parts.chain;
    const { secondsPerSlot } = clock;
    // In a later slot, a payload is late at any time.
    const earliest = slotsLate > 0 ? 0 : (config.PAYLOAD_DUE_BPS / BASIS_POINTS) * secondsPerSlot;
    const latest = Math.floor(secondsPerSlot * LATEST_PER_MILLE) / 1000;
    if (seconds !== undefined && (seconds < earliest || seconds > latest)) {
      const what = slotsLate > 0 ? "start of the slot" : "payload deadline";
      throw ControlError.invalid(
        `"seconds" must be from ${earliest} (${what}) to ${latest} (end of the slot), got ${seconds}.`,
      );
    }
    const votesDue = (config.PAYLOAD_ATTESTATION_DUE_BPS / BASIS_POINTS) * secondsPerSlot;
    const delay = { slots: slotsLate, seconds: seconds ?? (votesDue + secondsPerSlot) / 2 };
    return this.#parts.time.exclusive(async () => ({
      ...this.#add(this.#payloads, delay, slots),
      seconds: delay.seconds,
    }));
  }

  setVotes({ validators, ...rule }: PayloadVoteRule, slots: SlotsToAffect): Promise<AffectedSlots> {
    const { keys, time } = this.#parts;
    return time.exclusive(async () => {
      const members = resolveSelection(keys.indices, validators);
      return this.#add(this.#votes, { ...rule, members }, slots);
    });
  }

  reveal(root?: RootHex): Promise<RootHex> {
    const { chain, time, withheld } = this.#parts;
    return time.exclusive(async () => {
      const revealed = root ?? this.#newestWithheld();
      if (revealed === undefined)
        throw ControlError.notFound("No payload is withheld. dev_withholdPayloads does that.");
      if (!withheld.has(revealed)) {
        const reason = chain.forkChoice.retryBackoff.has(revealed)
          ? "was revealed, and the execution engine rejected it."
          : "is not withheld. Withheld payloads are lost when the node restarts.";
        throw ControlError.notFound(`The payload of block ${revealed} ${reason}`);
      }
      if (!this.#canReveal(revealed)) {
        throw ControlError.conflict(`The payload of block ${revealed} is too late: a later block is finalized.`);
      }
      try {
        await withheld.reveal(revealed);
      } catch (error) {
        if (error instanceof BlockRejection) throw ControlError.conflict(error.message);
        throw error;
      }
      return revealed;
    });
  }

  /** Returns the newest block whose payload can be revealed, preferably of the chain. */
  #newestWithheld(): RootHex | undefined {
    const { chain, withheld } = this.#parts;
    const revealable = withheld.roots.filter((root) => this.#canReveal(root));
    return revealable.find((root) => chain.forkChoice.isDescendant(root, chain.head.root)) ?? revealable[0];
  }

  #canReveal(root: RootHex): boolean {
    const { forkChoice } = this.#parts.chain;
    const block = forkChoice.get(root);
    return block !== undefined && block.slot > computeStartSlotAtEpoch(forkChoice.finalized.epoch);
  }

  isWithheld(root: RootHex): boolean {
    return this.#parts.withheld.has(root);
  }

  mayLeaveBlocksEmpty(): boolean {
    const { chain, hasOtherFaults } = this.#parts;
    const nextSlot = chain.clock.currentSlot + 1;
    return [this.#payloads, this.#votes].some((ranges) => ranges.reaches(nextSlot)) || hasOtherFaults();
  }

  #add<T>(ranges: SlotRanges<T>, value: T, { count, first }: SlotsToAffect): AffectedSlots {
    const { clock, config } = this.#parts.chain;
    const nextSlot = clock.currentSlot + 1;
    const fromSlot = first ?? nextSlot;
    if (fromSlot < nextSlot) {
      throw ControlError.invalid(`"slot" must be ${nextSlot}, the next slot, or later, got ${fromSlot}.`);
    }
    const failure = errorBeforeGloas(config, fromSlot);
    if (failure) throw new ControlError(failure);
    ranges.pruneBefore(nextSlot);
    if (count === 0) {
      ranges.endAt(fromSlot);
      return { fromSlot, untilSlot: fromSlot };
    }
    if (ranges.size >= MAX_SCHEDULED) {
      throw ControlError.conflict(
        `${MAX_SCHEDULED} calls are scheduled already. Run their slots, or end them with "slots": 0.`,
      );
    }
    const range = { fromSlot, untilSlot: fromSlot + count };
    ranges.add({ ...range, value });
    return range;
  }
}

function voteOf(rules: readonly MemberVotes[], voter: ValidatorIndex, honest: PayloadVote): PayloadVote | null {
  const rule = rules.find(({ members }) => members.has(voter));
  if (!rule) return honest;
  if (rule.abstains) return null;
  const { payloadPresent = honest.payloadPresent, blobDataAvailable = honest.blobDataAvailable } = rule;
  return { payloadPresent, blobDataAvailable };
}
