import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import type { PayloadVote } from "../../../chain/fork-choice/payloads/payload-votes.ts";
import { invalidParams } from "../../../errors/failure.ts";
import type { ApiContext } from "../../context.ts";
import { defineMethod, optional } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { resolveBlock, resolveBlockPosition } from "../../lookup.ts";
import { blockId } from "../../params/identifiers.ts";
import { boolean, integerUpTo, parseNumber, plannedSlot, stringEnum } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { type AffectedSlots, errorBeforeGloas, FALSE_PAYLOADS, type PayloadFault } from "../../payload-control.ts";
import { bidOf, canonicalChild, hasCanonicalPayload } from "../../payload-of-block.ts";
import { boolean as booleanSchema, described, either, nothing, number, object, shape } from "../../schemas.ts";
import { DEV_METHOD } from "./dev-method.ts";
import { selection } from "./validators.ts";

const MAX_SLOTS = 1024;

const slots = integerUpTo(BigInt(MAX_SLOTS), `a number of slots from 0 to ${MAX_SLOTS}`);
const slotsLate = integerUpTo(BigInt(SLOTS_PER_EPOCH), `a number of slots from 0 to ${SLOTS_PER_EPOCH}`);

/** The range is validated by the chain. */
const seconds = paramSchema("a number of seconds of chain time", { type: "number", minimum: 0 }, parseNumber);

const AFFECTED = {
  from_slot: shape("Uint64"),
  until_slot: described(shape("Uint64"), "First slot that is not affected."),
};

const affectedJson = ({ fromSlot, untilSlot }: AffectedSlots) => ({
  from_slot: String(fromSlot),
  until_slot: String(untilSlot),
});

const FIRST_SLOT = optional(plannedSlot, "First slot. Default: the next one.");
const slotCount = (ended: string) =>
  optional(slots, `Number of slots. Default: 1. 0 ends ${ended} from the first slot on.`);

/** Members common to these methods. Calls for slots before the fork fail. */
const PAYLOAD_METHOD = { ...DEV_METHOD, since: ForkName.gloas } as const;

function payloadFault(name: string, fault: PayloadFault, summary: string) {
  return defineMethod({
    ...PAYLOAD_METHOD,
    name,
    summary,
    params: { slots: slotCount("all faults of payloads"), slot: FIRST_SLOT },
    result: { name: "slots", schema: object(AFFECTED) },
    failures: ["rejected", "unsupported"],
    example: { stage: "control", params: [1] },
    async handler(context, { slots = 1, slot }) {
      const { payloads } = controlOf(context);
      return affectedJson(await payloads.schedule(fault, { count: slots, first: slot }));
    },
  });
}

const devWithholdPayloads = payloadFault(
  "dev_withholdPayloads",
  "withhold",
  "Withholds the payloads and blobs of the next slots: their blocks stay empty. dev_revealPayload reveals them.",
);

const devFalsifyPayloads = defineMethod({
  ...PAYLOAD_METHOD,
  name: "dev_falsifyPayloads",
  summary: "Reveals false payloads in the next slots, which are rejected.",
  params: {
    slots: slotCount("all faults of payloads"),
    slot: FIRST_SLOT,
    kind: optional(
      stringEnum(FALSE_PAYLOADS),
      "Kind of the fault; different: another payload than the bid commits to; equivocation: first another payload, then the right one, which counts; invalid: the bid commits to a payload that the execution engine rejects. Default: different.",
    ),
  },
  result: { name: "slots", schema: object(AFFECTED) },
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [1] },
  async handler(context, { slots = 1, slot, kind = "different" }) {
    const { payloads } = controlOf(context);
    return affectedJson(await payloads.schedule(kind, { count: slots, first: slot }));
  },
});

const devWithholdBlobs = payloadFault(
  "dev_withholdBlobs",
  "without-blobs",
  "Reveals the payloads of the next slots in time, but not their blobs, without which they are not imported. Has no effect on payloads without blobs.",
);

const devDelayPayloads = defineMethod({
  ...PAYLOAD_METHOD,
  name: "dev_delayPayloads",
  summary:
    "Reveals the payloads of the next slots late: after the votes of the payload timeliness committee, or after later blocks.",
  params: {
    slots: slotCount("all faults of payloads"),
    seconds: optional(
      seconds,
      "Seconds into the slot of arrival. Default: halfway between the committee's votes and the end of the slot.",
    ),
    slotsLate: optional(slotsLate, "Number of slots by which a payload is late. Default: 0."),
    slot: FIRST_SLOT,
  },
  result: {
    name: "delay",
    schema: object({ ...AFFECTED, seconds: number, slots_late: shape("Uint64") }),
  },
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: [1] },
  async handler(context, { slots = 1, seconds, slotsLate = 0, slot }) {
    const { payloads } = controlOf(context);
    const delay = await payloads.delay({ slotsLate, seconds }, { count: slots, first: slot });
    return { ...affectedJson(delay), seconds: delay.seconds, slots_late: String(slotsLate) };
  },
});

const devSetPayloadVotes = defineMethod({
  ...PAYLOAD_METHOD,
  name: "dev_setPayloadVotes",
  summary:
    "Sets how members of the payload timeliness committees vote in the next slots. Several calls can concern different validators.",
  params: {
    slots: slotCount("all such votes"),
    payloadPresent: optional(boolean, "The vote on the payload. Default: the honest one."),
    blobDataAvailable: optional(boolean, "The vote on the blobs. Default: the honest one."),
    abstain: optional(boolean, "True to not vote at all."),
    validators: optional(selection, "Members that vote like this. Default: all."),
    slot: FIRST_SLOT,
  },
  result: { name: "slots", schema: object(AFFECTED) },
  failures: ["not-found", "rejected", "unsupported"],
  example: { stage: "control", params: [1, false] },
  async handler(context, { slots = 1, payloadPresent, blobDataAvailable, abstain, validators, slot }) {
    const hasVote = payloadPresent !== undefined || blobDataAvailable !== undefined;
    if (abstain === true && hasVote) {
      throw invalidParams("abstain excludes payload_present and blob_data_available. Give only one of them.");
    }
    if (slots > 0 && abstain !== true && !hasVote) {
      throw invalidParams("The vote is missing. Give payload_present, blob_data_available or abstain.");
    }
    const rule = {
      payloadPresent,
      blobDataAvailable,
      abstains: abstain === true,
      validators: validators ?? { share: 1 },
    };
    return affectedJson(await controlOf(context).payloads.setVotes(rule, { count: slots, first: slot }));
  },
});

const VOTES = object({
  payload_present: described(shape("Uint64"), "Positions in the committee that saw the payload in time."),
  payload_absent: described(shape("Uint64"), "Positions that did not."),
  blob_data_available: described(shape("Uint64"), "Positions that saw the blobs in time."),
  blob_data_missing: described(shape("Uint64"), "Positions that did not."),
});

const payloadInfo = {
  name: "payload",
  schema: object({
    slot: shape("Uint64"),
    block_root: shape("Root"),
    block_hash: described(shape("Root"), "Hash of the payload, to which the block's bid commits."),
    parent_block_hash: described(shape("Root"), "Hash of the payload that it builds on."),
    payload_status: described(
      { type: "string", enum: ["full", "empty"] },
      '"full" if the payload is on the chain of the block, "empty" if the chain goes on without it.',
    ),
    is_imported: described(booleanSchema, "True if the node has the payload, also if it is not on the chain."),
    is_withheld: described(booleanSchema, "True if dev_revealPayload can reveal the payload."),
    is_invalid: described(
      booleanSchema,
      "True if the execution engine rejected the payload. Forgotten when the node restarts.",
    ),
    votes: described(
      either(VOTES, nothing),
      "Votes of the payload timeliness committee; null for old, finalized blocks.",
    ),
  }),
};

async function infoOf(context: ApiContext, id: Parameters<typeof resolveBlock>[1]) {
  const { chain } = context;
  const block = await resolveBlock(chain, id);
  const { root, slot, canonical } = block;
  const failure = errorBeforeGloas(chain.config, slot);
  if (failure) throw failure;
  const { forkChoice } = chain;
  const isKnown = forkChoice.has(root);
  const isImported = await chain.payloadStore.has(root);
  const child = canonical ? await canonicalChild(chain, root) : undefined;
  const isFull = canonical || isKnown ? hasCanonicalPayload(chain, block, child) : isImported;
  const count = (about: PayloadVote, value: boolean) =>
    String(forkChoice.payloadVotesOf(root, about).filter((vote) => vote === value).length);
  const bid = bidOf(block);
  return {
    slot: String(slot),
    block_root: root,
    block_hash: toRootHex(bid.blockHash),
    parent_block_hash: toRootHex(bid.parentBlockHash),
    payload_status: isFull ? ("full" as const) : ("empty" as const),
    is_imported: isImported,
    is_withheld: controlOf(context).payloads.isWithheld(root),
    is_invalid: !isImported && forkChoice.retryBackoff.has(root),
    votes: isKnown
      ? {
          payload_present: count("payloadPresent", true),
          payload_absent: count("payloadPresent", false),
          blob_data_available: count("blobDataAvailable", true),
          blob_data_missing: count("blobDataAvailable", false),
        }
      : null,
  };
}

const devGetPayload = defineMethod({
  ...PAYLOAD_METHOD,
  name: "dev_getPayload",
  summary: "Whether a block has its payload, and how the payload timeliness committee voted on it.",
  params: {
    blockId: optional(blockId, "Block id: head, genesis, finalized, a slot or a block root. Default: head."),
  },
  result: payloadInfo,
  failures: ["not-found", "unsupported"],
  example: { stage: "control", params: ["head"] },
  handler: (context, { blockId = "head" }) => infoOf(context, blockId),
});

const devRevealPayload = defineMethod({
  ...PAYLOAD_METHOD,
  name: "dev_revealPayload",
  summary: "Reveals a withheld payload with its blobs. Fork choice decides whether it is still of use.",
  params: {
    blockId: optional(
      blockId,
      "Block id: head, genesis, finalized, a slot or a block root. Default: the newest block whose payload is withheld.",
    ),
  },
  result: payloadInfo,
  failures: ["not-found", "rejected", "unsupported"],
  example: { stage: "control" },
  async handler(context, { blockId }) {
    const { chain } = context;
    const failure = errorBeforeGloas(chain.config, chain.head.slot);
    if (failure) throw failure;
    const root = blockId === undefined ? undefined : (await resolveBlockPosition(chain, blockId)).root;
    return infoOf(context, await controlOf(context).payloads.reveal(root));
  },
});

export const devPayloadMethods = [
  devWithholdPayloads,
  devDelayPayloads,
  devFalsifyPayloads,
  devWithholdBlobs,
  devRevealPayload,
  devSetPayloadVotes,
  devGetPayload,
] as const;
