import { join } from "node:path";
import { it } from "vitest";
import { ExecutionClient } from "../../support/execution/execution-client.ts";
import { GUIDES, ROOT } from "./guide.ts";
import { type GuideOptions, runGuide } from "./run-guide.ts";

/** A dev chain in place of hoodi, and an execution layer of this process in place of geth. */
async function withExecutionClient(): Promise<GuideOptions> {
  const { url } = await ExecutionClient.open();
  const program = `${JSON.stringify(process.execPath)} ${JSON.stringify(join(ROOT, "bin/fanal.js"))}`;
  return {
    commands: {
      openssl: `printf '${"07".repeat(32)}'`,
      geth: "echo started",
      fanal: `case "$1" in node) shift 5; exec ${program} dev --warmup-epochs 0 "$@" ;; *) exec ${program} "$@" ;; esac`,
    },
    served: { 8551: new URL(url).port },
  };
}

it.each(GUIDES)("docs/guides/%s.md works as written", async (name) => {
  await runGuide(name, name === "pair-an-execution-client" ? await withExecutionClient() : {});
});
