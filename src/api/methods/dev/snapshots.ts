import { defineMethod, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, isTrue, text } from "../../schemas.ts";

const ID = /^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,12})$/;

const snapshotId = paramSchema(
  'the id of a snapshot as dev_snapshot gave it, such as "0x1"',
  { type: "string", pattern: ID.source },
  (value) => (typeof value === "string" && ID.test(value) ? Number(value) : undefined),
);

const devSnapshot = defineMethod({
  name: "dev_snapshot",
  aliases: ["evm_snapshot", "anvil_snapshot"],
  summary:
    "Takes a snapshot of the whole chain, to which dev_revert goes back: blocks, states, fork choice, pools, time and what " +
    "validators have signed. There may be any number of them; they live as long as the process.",
  result: { name: "id", schema: described(text, "The id of the snapshot, a hexadecimal number.") },
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  async handler(context) {
    return `0x${(await controlOf(context).snapshots.take()).toString(16)}`;
  },
});

const devRevert = defineMethod({
  name: "dev_revert",
  aliases: ["evm_revert", "anvil_revert"],
  summary:
    "Makes the chain what it was when a snapshot was taken, whatever became final since. The snapshot and those taken after " +
    "it are forgotten.",
  params: { id: required(snapshotId, "The id that dev_snapshot gave.") },
  result: { name: "reverted", schema: isTrue },
  failures: ["not-found", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: async (chain) => [await chain.takeSnapshot()] },
  async handler(context, { id }) {
    await controlOf(context).snapshots.revert(id);
    return true;
  },
});

export const devSnapshotMethods = [devSnapshot, devRevert] as const;
