import { expect, it } from "vitest";
import { describeState } from "./no-upstream-error.ts";

it.each([
  ["ready", [], "a is ready."],
  ["down", ["a refused the connection."], "a is down: it refused the connection."],
  ["down", ["It was removed from the configuration."], "a is down: It was removed from the configuration."],
  ["behind", ["It is optimistic.", "It is at slot 5."], "a is behind: It is optimistic. It is at slot 5."],
  // Another upstream whose name begins alike.
  ["foreign", ["another one is on mainnet."], "a is foreign: another one is on mainnet."],
] as const)("describes an upstream that is %s because of %j as %j", (state, reasons, text) => {
  expect(describeState({ upstream: "a", state, reasons })).toBe(text);
});
