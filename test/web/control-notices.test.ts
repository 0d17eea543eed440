import { expect, it } from "vitest";
import { noticeOf } from "../../src/web/control-notices.ts";

const ROOT = `0x${"ab".repeat(32)}`;

it.each([
  ["dev_advance", {}, { slot: "9", head_slot: "9", head_block_root: ROOT }, "Advanced to slot 9. Head:"],
  ["dev_pause", {}, { slot: "9" }, "Paused in slot 9"],
  ["dev_setSpeed", { speed: 0 }, { speed: 0 }, "Paused"],
  ["dev_resume", {}, { speed: 4 }, "Time runs at 4 × real time"],
  ["dev_setValidators", {}, { online: ["0"], offline: ["1", "2"] }, "1 validator online, 2 offline"],
  ["dev_delayBlocks", {}, { from_slot: "5", until_slot: "7" }, "Blocks from slot 5 to 6 will be late"],
  ["dev_delayBlocks", {}, { from_slot: "5", until_slot: "5" }, "Blocks are on time"],
  ["dev_withholdPayloads", {}, { from_slot: "5", until_slot: "7" }, "Payloads will be faulty from slot 5 to 6"],
  ["dev_setPayloadVotes", {}, { from_slot: "5", until_slot: "5" }, "Votes on payloads are honest from slot 5 on"],
  ["dev_revealPayload", {}, { slot: "5", block_root: ROOT, payload_status: "full" }, "Revealed a payload. Now full:"],
  ["dev_bid", { builder: 1 }, { from_slot: "5", until_slot: "7" }, "Builder 1 bids from slot 5 to 6"],
  ["dev_bid", { builder: 1 }, { from_slot: "5", until_slot: "5" }, "Builder 1 bids no more from slot 5 on"],
  ["dev_exitBuilder", { builder: 1 }, {}, "The next payload contains an exit request of builder 1"],
  ["dev_deposit", {}, [{}], "The next block contains 1 deposit"],
  ["dev_revert", { id: "0x2" }, true, "Reverted to snapshot 0x2"],
  ["dev_other", {}, null, "Called dev_other"],
])("%s %j", (method, params, result, text) => {
  expect(noticeOf(method, params, result).text).toBe(text);
});

it("links a notice to its subject", () => {
  const position = { slot: "9", head_slot: "8", head_block_root: ROOT };
  expect(noticeOf("dev_skip", {}, position).link).toEqual({
    label: "block 0xababab…abab of slot 8",
    href: `#/block/${ROOT}`,
  });
  expect(noticeOf("dev_exit", { validator: 3 }, {}).link?.href).toBe("#/validator/3");
});
