import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

vi.setConfig({ testTimeout: 180_000 });

const devFlags = () => ["dev", "--validators", "8", "--warmup-epochs", "0", "--data-dir", tempDirectory(), "--rest"];

it("the program serves REST only, with the configured origins", async () => {
  const program = new Program([...devFlags(), "--rest-port", "0", "--rest-allow-origin", "http://localhost:3000"]);
  const [, url] = await program.untilLine(/REST is served at (http:\S+)/);
  expect(program.output).toContain("JSON-RPC server is off");
  const response = await fetch(`${url}/eth/v1/node/version`, { headers: { Origin: "http://localhost:3000" } });
  expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
  expect(await response.json()).toEqual({ data: { version: expect.stringMatching(/^Fanal\//) } });
  // An open event stream does not prevent the program from stopping.
  const events = await fetch(`${url}/eth/v1/events?topics=head`);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  await events.text();
});

it("a REST port in use is reported in one sentence, and the other server is closed", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const program = new ProgramHere([...devFlags(), "--rest-port", String(port), "--rpc", "--rpc-port", "0"]);
  expect(await program.exited).toEqual({ code: EXIT_CODES.listen, signal: null });
  expect(program.errors).toEqual([
    `fanal: Port ${port} of 127.0.0.1 is in use by another process; stop that one, or give another --rest-port.`,
  ]);
});
