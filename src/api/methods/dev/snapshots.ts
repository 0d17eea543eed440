import { defineMethod, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, isTrue, list, object, shape } from "../../schemas.ts";
import { DEV_METHOD } from "./dev-method.ts";

const ID = /^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,12})$/;

const snapshotId = paramSchema(
  'a snapshot id as returned by dev_snapshot, such as "0x1"',
  { type: "string", pattern: ID.source },
  (value) => (typeof value === "string" && ID.test(value) ? Number(value) : undefined),
);

const hexId = (id: number): string => `0x${id.toString(16)}`;

const devSnapshot = defineMethod({
  ...DEV_METHOD,
  name: "dev_snapshot",
  aliases: ["evm_snapshot", "anvil_snapshot"],
  summary:
    "Takes a snapshot of the whole chain for dev_revert: blocks, states, fork choice, pools, time and slashing protection. " +
    "Snapshots are kept in memory, without a limit on their number.",
  result: { name: "id", schema: described(shape("Quantity"), "Id of the snapshot, in hex.") },
  example: { stage: "control" },
  async handler(context) {
    return hexId(await controlOf(context).snapshots.take());
  },
});

const devRevert = defineMethod({
  ...DEV_METHOD,
  name: "dev_revert",
  aliases: ["evm_revert", "anvil_revert"],
  summary: "Reverts the chain to a snapshot, even across finality. Deletes the snapshot and all later ones.",
  params: { id: required(snapshotId, "Id returned by dev_snapshot.") },
  result: { name: "reverted", schema: isTrue },
  failures: ["not-found", "unsupported"],
  example: { stage: "control", params: async (chain) => [await chain.takeSnapshot()] },
  async handler(context, { id }) {
    await controlOf(context).snapshots.revert(id);
    return true;
  },
});

const devGetSnapshots = defineMethod({
  ...DEV_METHOD,
  name: "dev_getSnapshots",
  summary: "Snapshots that dev_revert can revert to, oldest first.",
  result: {
    name: "snapshots",
    schema: list(
      object({
        id: shape("Quantity"),
        slot: described(shape("Uint64"), "Slot in which the snapshot was taken."),
        head_block_root: shape("Root"),
      }),
    ),
  },
  example: { stage: "control" },
  handler(context) {
    const snapshots = controlOf(context).snapshots.list();
    return snapshots.map(({ id, slot, headRoot }) => ({
      id: hexId(id),
      slot: String(slot),
      head_block_root: headRoot,
    }));
  },
});

export const devSnapshotMethods = [devSnapshot, devRevert, devGetSnapshots] as const;
