import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { BIN } from "../support/program/program-process.ts";

vi.setConfig({ testTimeout: 180_000 });

it("a node with an unread log responds and stops, reports dropped records, and writes its log file", async () => {
  const dataDir = tempDirectory();
  const logFile = join(dataDir, "node.log");
  const flags = [
    "--data-dir",
    dataDir,
    "--validators",
    "8",
    "--warmup-epochs",
    "0",
    "--no-evm",
    "--log-file",
    logFile,
    "--log-level",
    "DEBUG",
  ];
  const child = spawn(process.execPath, [BIN, "dev", ...flags, "--rpc", "--rpc-port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const readLog = () => (existsSync(logFile) ? readFileSync(logFile, "utf8") : "");
  const url = await vi.waitUntil(() => readLog().match(/JSON-RPC is served at (\S+)/)?.[1], { timeout: 60_000 });
  // Far more than the pipe and the buffer hold: each failed call is logged with its method.
  for (let call = 0; call < 100; call++) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: String(call).padStart(32 * 1024, "x") });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(await response.json()).toMatchObject({ error: { code: -32601 } });
  }

  let output = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (output += text));
  await vi.waitUntil(() => /Log records dropped, output blocked\s+records=\d+/.test(output), {
    timeout: 60_000,
  });
  child.kill("SIGHUP");
  expect(await exited).toEqual([0, null]);
  const written = readLog();
  expect(written.trimEnd().split("\n").at(-1)).toMatch(/Stopped$/);
  expect(written).not.toMatch(/ (ERROR|FATAL) /);
  expect(statSync(logFile).mode & 0o777).toBe(0o600);
});

it("an unwritable log file prevents the start", async () => {
  const program = new ProgramHere(["dev", "--data-dir", tempDirectory(), "--log-file", "/dev/null/x.log"]);
  expect(await program.exited).toEqual({ code: 2, signal: null });
  expect(program.errors).toEqual([
    expect.stringMatching(/^fanal: The log file \/dev\/null\/x.log cannot be written: /),
  ]);
});

it("a signal ends the download of a checkpoint state at once", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    response.write(Buffer.alloc(1000));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const flags = ["--network", "sepolia", "--data-dir", tempDirectory(), "--no-p2p", "--checkpoint-sync-url", url];
  const program = new Program(["node", ...flags]);
  await once(server, "request");
  expect(await program.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(program.lines[0]).toMatch(/Starting Fanal\s+version=\S+ network=sepolia preset=mainnet dataDir=\S+ rpc=off/);
  expect(program.lines.at(-1)).toMatch(/Stopped during startup$/);
});
