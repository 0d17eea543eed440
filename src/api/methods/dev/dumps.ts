import { fromHex, toHex } from "@lodestar/utils";
import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { isHex } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, text } from "../../schemas.ts";
import { DEV_METHOD } from "./dev-method.ts";
import { position, positionOf } from "./time.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const HEX = "^0x([0-9a-fA-F]{2})+$";

const fileName = paramSchema(
  "a file name of letters, digits, dots, hyphens and underscores, without a directory",
  { type: "string", pattern: NAME.source },
  (value) => (typeof value === "string" && NAME.test(value) ? value : undefined),
);

/** A dump of a chain, in hex. */
export const hexDump = paramSchema(
  "a dump as returned by dev_dump: 0x followed by hex digits",
  { type: "string", pattern: HEX },
  (value) => (typeof value === "string" && value.length > 2 && isHex(value) ? value : undefined),
);

const devDump = defineMethod({
  ...DEV_METHOD,
  name: "dev_dump",
  summary:
    "Dumps the whole chain: blocks, states, votes, pools, time and slashing protection. Returns the dump, or its path if it " +
    "was written to a file.",
  params: {
    file: optional(fileName, "Name of a new file in the directory `dumps` of the data directory."),
  },
  result: { name: "dump", schema: described(text, "The dump in hex, or the path of its file.") },
  failures: ["rejected", "unsupported"],
  example: { stage: "control" },
  async handler(context, { file }, call) {
    const { dumps } = controlOf(context);
    return file === undefined ? toHex(await dumps.dump(call?.signal)) : dumps.dumpTo(file, call?.signal);
  },
});

const devLoad = defineMethod({
  ...DEV_METHOD,
  name: "dev_load",
  summary:
    "Replaces the chain with a dump, which must have the same genesis and configuration. `fanal db import` creates a " +
    "data directory from any dump.",
  params: {
    dump: optional(hexDump, "Dump in hex."),
    file: optional(fileName, "Name of a file in the directory `dumps` of the data directory, instead of a dump."),
  },
  result: position,
  failures: ["not-found", "rejected", "unsupported"],
  takesLargeBody: true,
  example: { stage: "control", params: async (chain) => [await chain.dump()] },
  async handler(context, { dump, file }, call) {
    if ((dump === undefined) === (file === undefined)) throw invalidParams("Give either dump or file.");
    const { dumps } = controlOf(context);
    if (dump !== undefined) await dumps.load(fromHex(dump), call?.signal);
    else if (file !== undefined) await dumps.loadFrom(file, call?.signal);
    return positionOf(context);
  },
});

export const devDumpMethods = [devDump, devLoad] as const;
