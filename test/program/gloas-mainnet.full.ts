import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";

const SLOTS_PER_EPOCH = 32;
const PTC_SIZE = 512;

it("a chain with the mainnet preset crosses to gloas, with builders, faults of payloads and a restart", async () => {
  const flags = [
    ...["--preset", "mainnet", "--gloas-at", "2", "--builders", "1", "--validators", "64", "--warmup-epochs", "0"],
    ...["--no-auto", "--data-dir", tempDirectory()],
  ];
  const first = await Program.dev(flags);
  await first.call("dev_advance", [2 * SLOTS_PER_EPOCH + 2]);
  expect(await first.call("dev_getPayload")).toMatchObject({
    payload_status: "full",
    votes: { payload_present: String(PTC_SIZE), blob_data_available: String(PTC_SIZE) },
  });
  await first.call("dev_withholdPayloads", [2]);
  await first.call("dev_advance", [3]);
  expect(await first.call("dev_getPayload", [2 * SLOTS_PER_EPOCH + 4])).toMatchObject({ payload_status: "empty" });
  // The builder was registered by the fork, from a deposit of epoch 1.
  await first.call("dev_advance", { until: { finalized: 2 }, limit: 3 * SLOTS_PER_EPOCH });
  expect(await first.call("dev_getBuilders")).toMatchObject([{ status: "active" }]);
  await first.stop();

  const second = await Program.dev(flags);
  await second.call("dev_bid", { builder: 0, value: 1_000_000_000, slots: 3 });
  await second.call("dev_withholdBuilderPayloads", [0]);
  await second.call("dev_advance");
  expect(await second.call("dev_getBuilders")).toMatchObject([{ last_bid: { outcome: "taken" } }]);
  expect(await second.call("dev_getPayload")).toMatchObject({ payload_status: "empty", is_withheld: true });
  await second.call("dev_advance", [3 * SLOTS_PER_EPOCH]);
  expect(await second.call("dev_getBuilders")).toMatchObject([{ balance: "97000000000", pending_payments: "0" }]);
  expect(await second.call("getChainHead")).toMatchObject({ head_slot: "225", finalized_slot: "160" });
  for (const { output } of [first, second]) expect(output).not.toMatch(/ (WARN|ERROR|FATAL) /);
}, 300_000);
