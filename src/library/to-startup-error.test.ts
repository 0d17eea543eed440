import { expect, it } from "vitest";
import { usageError } from "../cli/exit.ts";
import { StartupError } from "./startup-error.ts";
import { toStartupError, withOptionNames } from "./to-startup-error.ts";

it.each([
  ['The value "x" of --slot-seconds is not accepted.', 'The value "x" of "slotSeconds" is not accepted.'],
  ["--validators 4 is too few.", "validators: 4 is too few."],
  ["--fork-at altair=4 contradicts --fork fulu.", 'forkAt: { altair: 4 } contradicts fork: "fulu".'],
  ["--gloas-at 1 contradicts --fork gloas.", 'gloasAt: 1 contradicts fork: "gloas".'],
  ["--p2p and --no-auto exclude each other.", '"p2p" and speed: 0 exclude each other.'],
  ["The port is taken; give another --rpc-port.", 'The port is taken; give another "rpc".'],
  ["--interop-keys 0-7 has 8 keys.", 'interopKeys: "0-7" has 8 keys.'],
  ["Node's option --max-old-space-size raises it.", "Node's option --max-old-space-size raises it."],
  ["--catch-up and --speed 2.5 exclude each other.", '"catchUp" and speed: 2.5 exclude each other.'],
])("names options instead of flags: %s", (message, expected) => {
  expect(withOptionNames(message)).toBe(expected);
});

it("keeps the kind and the cause of an error, and leaves unexpected errors alone", () => {
  const cause = usageError("--validators 4 is too few.");
  const error = toStartupError(cause);
  expect(error).toBeInstanceOf(StartupError);
  expect(error).toMatchObject({
    name: "StartupError",
    kind: "invalid-option",
    message: "validators: 4 is too few.",
    cause,
  });
  expect(toStartupError(error)).toBe(error);
  const unexpected = new TypeError("x is not a function");
  expect(toStartupError(unexpected)).toBe(unexpected);
});
