import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

vi.setConfig({ testTimeout: 180_000 });

const devFlags = () => ["dev", "--validators", "8", "--warmup-epochs", "0", "--data-dir", tempDirectory(), "--metrics"];

it("health and readiness need no token, also at the metrics port", async () => {
  const tokenFile = join(tempDirectory(), "token");
  const rest = ["--rest", "--rest-port", "0", "--rest-token-file", tokenFile];
  const program = new Program([...devFlags(), "--metrics-port", "0", ...rest]);
  const [, restUrl] = await program.untilLine(/REST is served at (http:\S+)/);
  const [, metricsUrl] = await program.untilLine(/Metrics are served at (http:\S+)/);
  await program.untilLine(/Dev chain is running/);
  const ask = (path: string, base: string, headers = {}) => fetch(new URL(path, base), { headers });
  for (const path of ["/fanal/v1/ready", "/eth/v1/node/health"]) {
    const anonymous = await ask(path, restUrl!);
    expect(anonymous.status, path).toBe(200);
    expect(await anonymous.text()).toBe("");
    expect((await ask(path, metricsUrl!)).status, path).toBe(200);
  }
  expect((await ask("/eth/v1/node/version", restUrl!)).status).toBe(401);
  const token = (await readFile(tokenFile, "utf8")).trim();
  const known = await ask("/fanal/v1/ready", restUrl!, { Authorization: `Bearer ${token}` });
  expect(await known.json()).toMatchObject({ data: { ready: true } });
  expect(await (await ask("/fanal/v1/ready", metricsUrl!)).json()).toMatchObject({ data: { ready: true } });
  expect((await ask("/eth/v1/node/health?syncing_status=x", metricsUrl!)).status).toBe(400);
  expect((await ask("/eth/v1/node/version", metricsUrl!)).status).toBe(404);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

it("the program serves metrics if enabled, and reports a port in use in one sentence", async () => {
  const program = new Program([...devFlags(), "--metrics-port", "0"]);
  const [, url] = await program.untilLine(/Metrics are served at (http:\S+)/);
  const { port } = new URL(url!);
  const second = new ProgramHere([...devFlags(), "--metrics-port", port]);
  expect(await second.exited).toEqual({ code: EXIT_CODES.listen, signal: null });
  expect(second.errors).toEqual([
    `fanal: Port ${port} of 127.0.0.1 is in use by another process; stop that one, or give another --metrics-port.`,
  ]);
  // An open connection does not prevent the program from stopping.
  expect(await (await fetch(url!)).text()).toContain("\nbeacon_current_active_validators 8\n");
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});
