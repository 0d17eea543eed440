import { once } from "node:events";
import { request } from "node:http";
import { toHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { g2MsmInput } from "../support/evm/precompiles/inputs.ts";
import { Program } from "../support/program/program.ts";

const TERM = toHex(g2MsmInput(1)).slice(2);
/** Sums multiples of a point. */
const sum = (count: number) => ({ to: `0x${"e".padStart(40, "0")}`, data: `0x${TERM.repeat(count)}` });
/** Runs for seconds without a pause. */
const STUCK = sum(2500);
const POINT = /^0x[0-9a-f]{512}$/;
const BODY = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [STUCK] });
const REPLACED = "Read could not be stopped, replacing the thread for reads";

/** Each sends a call that does not end, and returns a function that closes the connection. */
const CLIENTS: Record<string, (url: string) => Promise<() => void>> = {
  HTTP: async (url) => {
    const headers = { "content-type": "application/json", expect: "100-continue" };
    const sent = request(url, { method: "POST", headers });
    sent.on("error", () => {});
    sent.flushHeaders();
    await once(sent, "continue");
    await new Promise<void>((resolve) => sent.end(BODY, resolve));
    return () => sent.destroy();
  },
  WebSocket: async (url) => {
    const socket = new WebSocket(url.replace("http", "ws"));
    await once(socket, "open");
    await new Promise((resolve) => socket.send(BODY, resolve));
    return () => socket.terminate();
  },
};

it("a call that cannot be interrupted ends when its client hangs up, over HTTP and WebSocket", async () => {
  const program = await Program.dev([
    ...["--data-dir", tempDirectory(), "--validators", "16"],
    ...["--warmup-epochs", "0", "--no-auto", "--evm"],
  ]);
  const replaced = () => program.complaints.filter((line) => line.includes(REPLACED)).length;
  for (const [index, send] of Object.values(CLIENTS).entries()) {
    // Loads the curve, which takes a pause.
    expect(await program.call("eth_call", [sum(1)])).toMatch(POINT);
    const hangUp = await send(program.url);
    // Meanwhile the call reaches its thread.
    for (let n = 0; n < 100; n++) await program.call("eth_blockNumber");
    hangUp();
    // Not in the cache. Fails at its time limit if the thread is not free again.
    expect(await program.call("eth_call", [sum(index + 2)])).toMatch(POINT);
    expect(replaced()).toBe(index + 1);
  }
});
