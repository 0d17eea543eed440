import { fromHex, toHex } from "@lodestar/utils";
import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { isHex } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, text } from "../../schemas.ts";
import { position, positionOf } from "./time.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const HEX = "^0x([0-9a-fA-F]{2})+$";

const fileName = paramSchema(
  "the name of a file, of letters, digits, dots, hyphens and underscores, without a directory",
  { type: "string", pattern: NAME.source },
  (value) => (typeof value === "string" && NAME.test(value) ? value : undefined),
);

export const hexDump = paramSchema(
  "a dump as dev_dump gave it, in hexadecimal digits after 0x",
  { type: "string", pattern: HEX },
  (value) => (typeof value === "string" && value.length > 2 && isHex(value) ? value : undefined),
);

const devDump = defineMethod({
  name: "dev_dump",
  summary:
    "Dumps the whole chain into one file: blocks, states, votes, pools, time and what validators have signed. The answer is " +
    "the file, or where it is when it was given a name.",
  params: {
    file: optional(fileName, "The name of a new file in the directory `dumps` of the data directory."),
  },
  result: { name: "dump", schema: described(text, "The file in hexadecimal digits after 0x, or its path.") },
  failures: ["rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  async handler(context, { file }, call) {
    const { dumps } = controlOf(context);
    return file === undefined ? toHex(await dumps.dump(call?.signal)) : dumps.dumpTo(file, call?.signal);
  },
});

const devLoad = defineMethod({
  name: "dev_load",
  summary:
    "Puts the chain of a dump in the place of the one that there is. It must have begun with the same genesis and the same " +
    "configuration; `fanal db import` makes a data directory of any dump.",
  params: {
    dump: optional(hexDump, "The dump."),
    file: optional(fileName, "The name of a file in the directory `dumps` of the data directory, instead of a dump."),
  },
  result: position,
  failures: ["not-found", "rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  takesLargeBody: true,
  example: { stage: "control", params: async (chain) => [await chain.dump()] },
  async handler(context, { dump, file }, call) {
    if ((dump === undefined) === (file === undefined)) throw invalidParams("One of dump and file is to be given.");
    const { dumps } = controlOf(context);
    if (dump !== undefined) await dumps.load(fromHex(dump), call?.signal);
    else if (file !== undefined) await dumps.loadFrom(file, call?.signal);
    return positionOf(context);
  },
});

export const devDumpMethods = [devDump, devLoad] as const;
