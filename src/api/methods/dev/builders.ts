import { ForkName, MIN_DEPOSIT_AMOUNT } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { BID_OUTCOMES, BUILDER_STATUSES, type BuilderInfo } from "../../builder-control.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { gweiBetween } from "../../params/gwei.ts";
import { boolean, integerUpTo } from "../../params/scalars.ts";
import { elementParser, paramSchema } from "../../params/schema.ts";
import type { AffectedSlots } from "../../payload-control.ts";
import { described, either, type JsonSchema, list, nothing, object, shape } from "../../schemas.ts";
import { DEV_METHOD } from "./dev-method.ts";

const MAX_SLOTS = 1024;
/** In Gwei. A million ETH, so that sums of balances are safe integers. */
const MAX_AMOUNT = 10n ** 15n;
const DEFAULT_TOP_UP = 32n * 10n ** 9n;

const slots = integerUpTo(BigInt(MAX_SLOTS), `a number of slots from 0 to ${MAX_SLOTS}`);
const parseSlots = elementParser(slots);
const slotsOrAll = paramSchema<number | "all">(
  `a number of slots from 0 to ${MAX_SLOTS}, or "all"`,
  {
    anyOf: [
      { type: "string", pattern: "^(0|[1-9][0-9]*|all)$" },
      { type: "integer", minimum: 0 },
    ],
  },
  (value) => (value === "all" ? value : parseSlots(value)),
);
const builderIndex = integerUpTo(2n ** 40n - 1n, "an index in the registry of builders, from 0 on");

/** Members common to these methods. Calls before the fork fail. */
const BUILDER_METHOD = {
  ...DEV_METHOD,
  since: ForkName.gloas,
  failures: ["not-found", "rejected", "unsupported"],
} as const;

const BUILDER = required(builderIndex, "Builder index.");

const LAST_BID = object({
  slot: shape("Uint64"),
  value: described(shape("Uint64"), "Payment to the proposer, in Gwei."),
  outcome: described(
    { type: "string", enum: [...BID_OUTCOMES] },
    "taken into the block; outbid by another bid or the local payload; refused as invalid; or unused, if there was no block.",
  ),
  reason: described(either({ type: "string" }, nothing), "Why the bid was refused; null if it was not."),
  second_bid: described(
    either({ type: "string" }, nothing),
    "Why the builder's second bid for the slot was ignored; null if it made only one.",
  ),
});

const BUILDER_INFO = object({
  index: shape("Uint64"),
  pubkey: shape("Pubkey"),
  execution_address: described(shape("Address"), "Address that gets the balance after an exit."),
  status: described(
    { type: "string", enum: [...BUILDER_STATUSES] },
    "pending until the deposit is finalized; active; exiting; exited once the balance can be withdrawn.",
  ),
  balance: described(shape("Uint64"), "In Gwei."),
  pending_payments: described(
    shape("Uint64"),
    "Payments for bids that are not withdrawn from the balance yet, in Gwei.",
  ),
  max_bid: described(shape("Uint64"), "Highest value of a bid that the balance covers, in Gwei."),
  withdrawable_epoch: described(either(shape("Uint64"), nothing), "Null while the builder has not exited."),
  last_bid: described(either(LAST_BID, nothing), "The last bid made by dev_bid. Forgotten when the node restarts."),
});

function builderJson({ lastBid, ...info }: BuilderInfo) {
  return {
    index: String(info.index),
    pubkey: toHex(info.pubkey),
    execution_address: toHex(info.executionAddress),
    status: info.status,
    balance: String(info.balance),
    pending_payments: String(info.pendingPayments),
    max_bid: String(info.maxBid),
    withdrawable_epoch: info.withdrawableEpoch === null ? null : String(info.withdrawableEpoch),
    last_bid: lastBid && {
      slot: String(lastBid.slot),
      value: String(lastBid.value),
      outcome: lastBid.outcome,
      reason: lastBid.reason,
      second_bid: lastBid.secondBid,
    },
  };
}

const affected = {
  name: "slots",
  schema: object({
    from_slot: shape("Uint64"),
    until_slot: described(shape("Uint64"), "First slot that is not affected."),
  }),
};

const affectedJson = ({ fromSlot, untilSlot }: AffectedSlots) => ({
  from_slot: String(fromSlot),
  until_slot: String(untilSlot),
});

/** Schema of a request that waits for the next payload. */
const request = (type: string, data: JsonSchema) => ({
  name: "operation",
  schema: object({
    type: { type: "string", const: type },
    status: { type: "string", const: "queued" },
    data: described(data, "The request in the JSON of the Beacon API."),
  }),
});

const devGetBuilders = defineMethod({
  ...DEV_METHOD,
  since: ForkName.gloas,
  name: "dev_getBuilders",
  summary: "Lists the builders in the registry of the head, with their balances and last bids.",
  result: { name: "builders", schema: list(BUILDER_INFO) },
  example: { stage: "control" },
  handler: (context) => controlOf(context).builders.list().map(builderJson),
});

const devBid = defineMethod({
  ...BUILDER_METHOD,
  name: "dev_bid",
  summary:
    "Makes a builder bid in the next slots. A proposer takes the highest valid bid if it pays more than the local payload. dev_getBuilders shows what became of it.",
  params: {
    builder: BUILDER,
    value: required(gweiBetween(0n, MAX_AMOUNT), "Payment to the proposer, in Gwei. The balance need not cover it."),
    slots: optional(slotsOrAll, 'Number of slots, or "all" slots from now on. Default: 1. 0 ends the builder\'s bids.'),
    equivocate: optional(
      boolean,
      "True to sign a second, higher bid for each slot. Only the first one counts; last_bid tells why.",
    ),
  },
  result: {
    name: "slots",
    schema: object({
      from_slot: shape("Uint64"),
      until_slot: described(
        either(shape("Uint64"), nothing),
        "First slot that is not affected; null if there is none.",
      ),
    }),
  },
  example: { stage: "control", params: [0, "1000000"] },
  async handler(context, { builder, value, slots = 1, equivocate: equivocates = false }) {
    const options = { value, slots: slots === "all" ? Number.POSITIVE_INFINITY : slots, equivocates };
    const { fromSlot, untilSlot } = await controlOf(context).builders.bid(builder, options);
    return { from_slot: String(fromSlot), until_slot: Number.isFinite(untilSlot) ? String(untilSlot) : null };
  },
});

const devWithholdBids = defineMethod({
  ...BUILDER_METHOD,
  name: "dev_withholdBuilderPayloads",
  summary:
    "Makes a builder withhold the payloads of its bids that are taken in the next slots. It pays for them all the same if enough validators attest to their blocks.",
  params: {
    builder: BUILDER,
    slots: optional(slots, "Number of slots. Default: 1. 0 makes the builder reveal its payloads."),
  },
  result: affected,
  example: { stage: "control", params: [0] },
  async handler(context, { builder, slots = 1 }) {
    return affectedJson(await controlOf(context).builders.withhold(builder, slots));
  },
});

const devTopUpBuilder = defineMethod({
  ...BUILDER_METHOD,
  name: "dev_topUpBuilder",
  summary: "Makes a deposit for a builder (EIP-8282). The block after the next payload adds it to the balance.",
  params: {
    builder: BUILDER,
    amount: optional(gweiBetween(BigInt(MIN_DEPOSIT_AMOUNT), MAX_AMOUNT), "In Gwei. Default: 32 ETH."),
  },
  result: request(
    "builder_deposit_request",
    object({
      pubkey: shape("Pubkey"),
      withdrawal_credentials: shape("Root"),
      amount: shape("Uint64"),
      signature: shape("Signature"),
    }),
  ),
  example: { stage: "control", params: [0] },
  async handler(context, { builder, amount = DEFAULT_TOP_UP }) {
    return await controlOf(context).builders.topUp(builder, amount);
  },
});

const devExitBuilder = defineMethod({
  ...BUILDER_METHOD,
  name: "dev_exitBuilder",
  summary:
    "Requests the exit of an active builder without unpaid bids (EIP-8282). Builders cannot be slashed: there is no such rule in gloas.",
  params: { builder: BUILDER },
  result: request("builder_exit_request", object({ source_address: shape("Address"), pubkey: shape("Pubkey") })),
  example: { stage: "control", params: [0] },
  handler: (context, { builder }) => controlOf(context).builders.exit(builder),
});

export const devBuilderMethods = [devGetBuilders, devBid, devWithholdBids, devTopUpBuilder, devExitBuilder] as const;
