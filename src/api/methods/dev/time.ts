import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { getValidatorStatus, type ValidatorStatus } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { MAX_SPEED } from "../../../chain/clock/clock.ts";
import { Failure, invalidParams, notFound } from "../../../errors/failure.ts";
import { VALIDATOR_STATUSES } from "../../../json/validator-status.ts";
import type { ApiContext } from "../../context.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { type ValidatorId, validatorId } from "../../params/identifiers.ts";
import { integerUpTo, numberBetween, parseUint64 } from "../../params/scalars.ts";
import { elementParser, paramSchema } from "../../params/schema.ts";
import { shape } from "../../schemas.ts";
import { indexInRegistry } from "../states/registry.ts";
import { DEV_METHOD } from "./dev-method.ts";

/** Maximum number of slots per call. A full exit takes 2100 slots in the minimal preset. */
export const MAX_SLOTS_PER_CALL = 65_536;

type Goal =
  | "block"
  | "finalized"
  | "justified"
  | { slot: number }
  | { epoch: number }
  | { finalized: number }
  | { validator: ValidatorId; status: ValidatorStatus };

const parseValidator = elementParser(validatorId);

function parseGoal(value: unknown): Goal | undefined {
  if (value === "block" || value === "finalized" || value === "justified") return value;
  if (typeof value !== "object" || value === null) return undefined;
  const members = Object.entries(value);
  const [[name, given] = []] = members;
  if (members.length === 1 && (name === "slot" || name === "epoch" || name === "finalized")) {
    const at = parseUint64(given);
    return at === undefined ? undefined : ({ [name]: at } as Goal);
  }
  const { validator, status, ...others } = value as Record<string, unknown>;
  const id = parseValidator(validator);
  const known = VALIDATOR_STATUSES.find((each) => each === status);
  if (id === undefined || known === undefined || Object.keys(others).length > 0) return undefined;
  return { validator: id, status: known };
}

const integer = {
  anyOf: [
    { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
    { type: "integer", minimum: 0 },
  ],
};

const goal = paramSchema<Goal>(
  '"block", for a newer head than now; "finalized" or "justified", for a newer checkpoint; {"slot": …}, {"epoch": …} or {"finalized": epoch}; or ' +
    `{"validator": index or public key, "status": …} with one of the statuses ${VALIDATOR_STATUSES.join(", ")}`,
  {
    anyOf: [
      { type: "string", enum: ["block", "finalized", "justified"] },
      { type: "object", properties: { slot: integer }, required: ["slot"] },
      { type: "object", properties: { epoch: integer }, required: ["epoch"] },
      { type: "object", properties: { finalized: integer }, required: ["finalized"] },
      {
        type: "object",
        properties: { validator: integer, status: { type: "string", enum: [...VALIDATOR_STATUSES] } },
        required: ["validator", "status"],
      },
    ],
  },
  parseGoal,
);

const speedFactor = numberBetween(0, MAX_SPEED, `a number from 0 to ${MAX_SPEED}`);

const slots = integerUpTo(BigInt(MAX_SLOTS_PER_CALL), `a number of slots from 0 to ${MAX_SLOTS_PER_CALL}`);
const epochs = integerUpTo(
  BigInt(Math.floor(MAX_SLOTS_PER_CALL / SLOTS_PER_EPOCH)),
  `a number of epochs from 0 to ${Math.floor(MAX_SLOTS_PER_CALL / SLOTS_PER_EPOCH)}`,
);

/** Result of the methods that advance the chain: clock, head and checkpoints. */
export const position = { name: "position", schema: shape("ChainPosition") };

export function positionOf({ chain }: Pick<ApiContext, "chain">) {
  const { clock, head, justifiedCheckpoint, finalizedCheckpoint } = chain;
  return {
    slot: String(clock.currentSlot),
    epoch: String(clock.currentEpoch),
    head_slot: String(head.slot),
    head_block_root: head.root,
    justified_epoch: String(justifiedCheckpoint.epoch),
    finalized_epoch: String(finalizedCheckpoint.epoch),
    speed: clock.isFlowing ? clock.speed : 0,
  };
}

const devAdvance = defineMethod({
  ...DEV_METHOD,
  name: "dev_advance",
  summary: "Runs slots immediately, with all validator duties: one, a given number, or until a condition holds.",
  params: {
    slots: optional(slots, "Number of slots. Default: 1."),
    epochs: optional(epochs, "Number of epochs, instead of slots."),
    until: optional(goal, "Condition to run until, instead of a number. Fails after `limit` slots."),
    limit: optional(slots, `Maximum number of slots for \`until\`. Default: ${MAX_SLOTS_PER_CALL}.`),
  },
  result: position,
  failures: ["not-found", "unsupported"],
  example: { stage: "control", params: [2] },
  async handler(context, { slots, epochs, until, limit }, call) {
    requireOne({ slots, epochs, until });
    if (limit !== undefined && until === undefined) throw invalidParams("limit requires until.");
    const { time } = controlOf(context);
    const signal = call?.signal;
    if (until === undefined) {
      await time.advance({ slots: slots ?? (epochs === undefined ? 1 : epochs * SLOTS_PER_EPOCH), signal });
      return positionOf(context);
    }
    const holds = conditionOf(context.chain, until);
    const maxSlots = limit ?? MAX_SLOTS_PER_CALL;
    if (!holds()) await time.advance({ slots: maxSlots, until: holds, signal });
    if (holds()) return positionOf(context);
    throw new Failure(
      "limit-exceeded",
      `The condition does not hold after ${maxSlots} slots, at slot ${context.chain.clock.currentSlot}.`,
    );
  },
});

const devSkip = defineMethod({
  ...DEV_METHOD,
  name: "dev_skip",
  summary: "Runs slots immediately without any duties, as if all validators were offline.",
  params: {
    slots: optional(slots, "Number of slots. Default: 1."),
    epochs: optional(epochs, "Number of epochs, instead of slots."),
  },
  result: position,
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [3] },
  async handler(context, { slots, epochs }, call) {
    requireOne({ slots, epochs });
    const count = slots ?? (epochs === undefined ? 1 : epochs * SLOTS_PER_EPOCH);
    await controlOf(context).time.skip({ slots: count, signal: call?.signal });
    return positionOf(context);
  },
});

const devPause = defineMethod({
  ...DEV_METHOD,
  name: "dev_pause",
  summary: "Pauses the clock after the duties of the current slot, until dev_resume.",
  result: position,
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.pause();
    return positionOf(context);
  },
});

const devResume = defineMethod({
  ...DEV_METHOD,
  name: "dev_resume",
  summary: "Resumes the clock at its previous speed.",
  result: position,
  example: { stage: "control" },
  async handler(context) {
    await controlOf(context).time.resume();
    return positionOf(context);
  },
});

const devSetSpeed = defineMethod({
  ...DEV_METHOD,
  name: "dev_setSpeed",
  summary: "Sets the speed of the clock. 0 pauses it, so that the chain advances only on request.",
  params: { speed: required(speedFactor, "Seconds of chain time per second of real time.") },
  result: position,
  example: { stage: "control", params: [0] },
  async handler(context, { speed }) {
    await controlOf(context).time.setSpeed(speed);
    return positionOf(context);
  },
});

function requireOne(given: Record<string, unknown>): void {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length <= 1) return;
  throw invalidParams(`${names.join(" and ")} are mutually exclusive. Give only one of them.`);
}

function conditionOf(chain: BeaconChain, until: Goal): () => boolean {
  const { clock } = chain;
  if (until === "block") return newerThan(() => chain.head.slot);
  if (until === "finalized") return newerThan(() => chain.finalizedCheckpoint.epoch);
  if (until === "justified") return newerThan(() => chain.justifiedCheckpoint.epoch);
  if ("slot" in until) return () => clock.currentSlot >= until.slot;
  if ("epoch" in until) return () => clock.currentEpoch >= until.epoch;
  if ("finalized" in until) return () => chain.finalizedCheckpoint.epoch >= until.finalized;
  const { validator: id, status } = until;
  if (typeof id !== "string" && indexInRegistry(chain.headState, id) === undefined) {
    const { length } = chain.headState.validators;
    throw notFound(
      `No validator ${id}: the registry has ${length} validators. Until its deposit is processed, use its public key.`,
    );
  }
  return () => {
    const { headState } = chain;
    // A key may enter the registry by a deposit.
    const index = indexInRegistry(headState, id);
    return (
      index !== undefined &&
      getValidatorStatus(headState.validators.getReadonly(index), headState.epochCtx.epoch) === status
    );
  };
}

function newerThan(read: () => number): () => boolean {
  const before = read();
  return () => read() > before;
}

export const devTimeMethods = [devAdvance, devSkip, devPause, devResume, devSetSpeed] as const;
