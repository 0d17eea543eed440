import { defineEntry, optional, required } from "./entry.ts";
import { root } from "./params/bytes.ts";
import { graffiti } from "./params/graffiti.ts";
import { blockId, stateId } from "./params/identifiers.ts";
import { text } from "./params/text.ts";

export const extensionEntries = [
  defineEntry({
    number: 47,
    name: "getBeaconHead",
    summary: "The slot of the head block.",
    invoke: ({ operations }) => operations.extensions.getBeaconHead(),
  }),
  defineEntry({
    number: 48,
    name: "getChainHead",
    summary: "Slots and roots of the head block and of the head state's checkpoints.",
    invoke: ({ operations }) => operations.extensions.getChainHead(),
  }),
  defineEntry({
    number: 49,
    name: "getNodeVersion",
    summary: "The node's name, version and platform as one string.",
    invoke: ({ operations }) => operations.extensions.getNodeVersion(),
  }),
  defineEntry({
    number: 51,
    name: "getSyncing",
    summary: "Whether the node is syncing.",
    invoke: ({ operations }) => operations.extensions.getSyncing(),
  }),
  defineEntry({
    number: 55,
    name: "getBeaconBlock",
    summary: "The signed block of a slot or with a root, or null when there is none.",
    params: {
      slot: optional(blockId, "The slot of a canonical block; any other block id is taken too."),
      root: optional(root, "The root of a block, when no slot is given."),
    },
    invoke: ({ operations }, args) => operations.extensions.getBeaconBlock(args),
  }),
  defineEntry({
    number: 56,
    name: "getBeaconState",
    summary: "The state at a slot or with a root, or null when there is none.",
    params: {
      slot: optional(stateId, "A slot of the canonical chain; any other state id is taken too."),
      root: optional(root, "The root of a state, when no slot is given."),
    },
    invoke: ({ operations }, args) => operations.extensions.getBeaconState(args),
  }),
  defineEntry({
    number: 57,
    name: "setLogLevel",
    summary: "Changes what is logged, at once and for the whole process.",
    params: { log_spec: required(text("a log specification"), "A level, then KEY:topic,topic parts separated by ;.") },
    submission: true,
    invoke: ({ operations }, { log_spec }) => operations.extensions.setLogLevel({ logSpec: log_spec }),
  }),
  defineEntry({
    number: 58,
    name: "setGraffiti",
    summary: "Sets the graffiti of blocks that are produced without one of their own.",
    params: { graffiti: required(graffiti, "At most 32 bytes of text or hex.") },
    submission: true,
    invoke: ({ operations }, args) => operations.extensions.setGraffiti(args),
  }),
  defineEntry({
    number: 59,
    name: "getEth1Chain",
    summary: "The blocks of the deposit chain that are candidates for votes, oldest first.",
    invoke: ({ operations }) => operations.eth1.getEth1Chain(),
  }),
  defineEntry({
    number: 60,
    name: "getEth1ProposalData",
    summary: "The vote on the deposit chain and the deposits of a block of the current slot.",
    invoke: ({ operations }) => operations.eth1.getEth1ProposalData(),
  }),
  defineEntry({
    number: 61,
    name: "debug_getChronosFutures",
    aliases: ["getChronosFutures"],
    summary: "The promises of the process that are pending, when the node was started with --track-futures.",
    invoke: ({ operations }) => operations.futures.getFutures(),
  }),
];
