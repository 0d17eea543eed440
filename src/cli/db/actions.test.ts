import { expect, it } from "vitest";
import { StartupError } from "../exit.ts";
import { readDbOperands } from "./actions.ts";

it.each([
  [["check"], { action: "check", file: "" }],
  [["repair"], { action: "repair", file: "" }],
  [["rewind", "7"], { action: "rewind", file: "", slot: 7 }],
  [["compact"], { action: "compact", file: "" }],
  [["export", "chain"], { action: "export", file: "chain" }],
  [["import", "chain"], { action: "import", file: "chain" }],
])("reads %j", (operands, read) => {
  expect(readDbOperands(operands)).toEqual(read);
});

it.each([
  [[], "Missing action. Give one of check, repair, rewind, compact, export, import."],
  [
    ["chek"],
    'Unknown action "chek" of "fanal db". Give one of check, repair, rewind, compact, export, import. Did you mean check?',
  ],
  [
    ["toString"],
    'Unknown action "toString" of "fanal db". Give one of check, repair, rewind, compact, export, import.',
  ],
  [["export"], '"fanal db export" requires a file name.'],
  [["rewind"], '"fanal db rewind" requires a slot.'],
  ...["0", "-1", "0x10", "1.5", "last"].map((slot): [string[], string] => [
    ["rewind", slot],
    `Invalid slot "${slot}" of "fanal db rewind". Give the first slot to drop, a decimal number from 1 on.`,
  ]),
  [["check", "chain"], 'Unexpected argument "chain" of "fanal db check".'],
  [["import", "chain", "more"], 'Unexpected argument "more" of "fanal db import".'],
])("rejects %j", (operands, message) => {
  expect(() => readDbOperands(operands)).toThrow(new StartupError("usage", message));
});
