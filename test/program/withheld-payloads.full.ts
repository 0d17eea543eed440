import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";

it.each(["kill", "stop"] as const)(
  "%s between a block and its payload leaves the block empty, and the chain goes on",
  async (end) => {
    const args = ["--fork", "gloas", "--validators", "8", "--warmup-epochs", "0", "--no-auto"];
    const flags = [...args, "--data-dir", tempDirectory()];
    const first = await Program.dev(flags);
    await first.call("dev_advance", [3]);
    await first.call("dev_withholdPayloads");
    await first.call("dev_advance");
    const before = await first.call("dev_getPayload");
    expect(before).toMatchObject({ slot: "4", payload_status: "empty", is_withheld: true });
    await first[end]();

    const second = await Program.dev(flags);
    expect(await second.call("dev_getPayload")).toMatchObject({
      slot: "4",
      block_root: (before as { block_root: string }).block_root,
      payload_status: "empty",
      is_imported: false,
      is_withheld: false,
    });
    await expect(second.call("dev_revealPayload")).rejects.toThrow("No payload is withheld.");
    await second.call("dev_advance", { until: "payload", limit: 2 });
    await second.call("dev_advance", { until: "finalized", limit: 40 });
    for (const [slot, status] of [
      [3, "full"],
      [4, "empty"],
      [5, "full"],
    ] as const) {
      expect(await second.call("dev_getPayload", [slot])).toMatchObject({ payload_status: status });
    }
    expect(second.output).not.toMatch(/ (WARN|ERROR|FATAL) /);
  },
  120_000,
);
