import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { StartError } from "../start-error.ts";
import { loadOrCreateJwtSecret, reloadingJwtSecret } from "./jwt-secret.ts";

it("creates a secret that only its owner can read, once", () => {
  const file = join(tempDirectory(), "jwt.hex");
  const logger = createRecordingLogger();
  const secret = loadOrCreateJwtSecret(file, logger);
  expect(readFileSync(file, "utf8")).toBe(`${Buffer.from(secret).toString("hex")}\n`);
  expect(secret).toHaveLength(32);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(loadOrCreateJwtSecret(file, logger)).toEqual(secret);
  expect(logger.records).toEqual([expect.objectContaining({ level: "notice", fields: { file } })]);
});

it.each([
  ["plain digits", "ab".repeat(32)],
  ["0x and white space around", `\n 0x${"AB".repeat(32)}\r\n`],
])("reads %s", (_, text) => {
  const file = join(tempDirectory(), "jwt.hex");
  writeFileSync(file, text);
  expect(loadOrCreateJwtSecret(file, createRecordingLogger())).toEqual(new Uint8Array(32).fill(0xab));
});

it.each(["", "0x", "ab".repeat(31), `${"ab".repeat(32)}c`, "xy".repeat(32), `${"ab".repeat(16)} ${"ab".repeat(16)}`])(
  "rejects %j",
  (text) => {
    const file = join(tempDirectory(), "jwt.hex");
    writeFileSync(file, text);
    const read = () => loadOrCreateJwtSecret(file, createRecordingLogger());
    expect(read).toThrow(StartError);
    expect(read).toThrow(`The JWT secret file ${file} must contain exactly 64 hex digits`);
  },
);

it("does not block on a pipe", () => {
  const pipe = join(tempDirectory(), "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(() => loadOrCreateJwtSecret(pipe, createRecordingLogger())).toThrow("must contain exactly 64 hex digits");
});

it("reloads the file, and keeps the previous secret while the file is invalid", () => {
  const file = join(tempDirectory(), "jwt.hex");
  const logger = createRecordingLogger();
  writeFileSync(file, "ab".repeat(32), { mode: 0o640 });
  const secret = reloadingJwtSecret(file, logger);
  expect(secret()).toEqual(new Uint8Array(32).fill(0xab));
  writeFileSync(file, "cd".repeat(32));
  expect(secret()).toEqual(new Uint8Array(32).fill(0xcd));
  writeFileSync(file, "half of i");
  expect([secret(), secret()]).toEqual([new Uint8Array(32).fill(0xcd), new Uint8Array(32).fill(0xcd)]);
  expect(logger.records.map(({ level }) => level)).toEqual(["warn"]);
});

it("warns once about a world-readable secret", () => {
  const file = join(tempDirectory(), "jwt.hex");
  const logger = createRecordingLogger();
  writeFileSync(file, "ab".repeat(32));
  chmodSync(file, 0o644);
  const secret = reloadingJwtSecret(file, logger);
  secret();
  expect(logger.records).toEqual([expect.objectContaining({ level: "warn", fields: { file } })]);
});

it("reports a file that cannot be read or created", () => {
  const directory = tempDirectory();
  const open = (file: string) => () => loadOrCreateJwtSecret(file, createRecordingLogger());
  expect(open(directory)).toThrow(`The JWT secret file ${directory} cannot be read: EISDIR`);
  expect(open(join(directory, "nowhere", "jwt.hex"))).toThrow(/jwt\.hex cannot be created: ENOENT/);
});
