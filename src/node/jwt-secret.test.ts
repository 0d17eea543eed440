import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { followJwtSecret, openJwtSecret } from "./jwt-secret.ts";
import { StartError } from "./start-error.ts";

it("makes a secret that only its owner can read, once", () => {
  const file = join(tempDirectory(), "jwt.hex");
  const logger = createRecordingLogger();
  const secret = openJwtSecret(file, logger);
  expect(readFileSync(file, "utf8")).toBe(`${Buffer.from(secret).toString("hex")}\n`);
  expect(secret).toHaveLength(32);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(openJwtSecret(file, logger)).toEqual(secret);
  expect(logger.records).toEqual([expect.objectContaining({ level: "notice", fields: { file } })]);
});

it.each([
  ["plain digits", "ab".repeat(32)],
  ["0x and white space around", `\n 0x${"AB".repeat(32)}\r\n`],
])("reads %s", (_, text) => {
  const file = join(tempDirectory(), "jwt.hex");
  writeFileSync(file, text);
  expect(openJwtSecret(file, createRecordingLogger())).toEqual(new Uint8Array(32).fill(0xab));
});

it.each(["", "0x", "ab".repeat(31), `${"ab".repeat(32)}c`, "xy".repeat(32), `${"ab".repeat(16)} ${"ab".repeat(16)}`])(
  "refuses %j",
  (text) => {
    const file = join(tempDirectory(), "jwt.hex");
    writeFileSync(file, text);
    const read = () => openJwtSecret(file, createRecordingLogger());
    expect(read).toThrow(StartError);
    expect(read).toThrow(`The JWT secret file ${file} must hold 64 hexadecimal digits`);
  },
);

it("does not wait for what is no file", () => {
  const pipe = join(tempDirectory(), "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(() => openJwtSecret(pipe, createRecordingLogger())).toThrow("must hold 64 hexadecimal digits");
});

it("follows a file that is mended, and keeps to the secret of before while there is none in it", () => {
  const file = join(tempDirectory(), "jwt.hex");
  const logger = createRecordingLogger();
  writeFileSync(file, "ab".repeat(32), { mode: 0o640 });
  const secret = followJwtSecret(file, logger);
  expect(secret()).toEqual(new Uint8Array(32).fill(0xab));
  writeFileSync(file, "cd".repeat(32));
  expect(secret()).toEqual(new Uint8Array(32).fill(0xcd));
  writeFileSync(file, "half of i");
  expect([secret(), secret()]).toEqual([new Uint8Array(32).fill(0xcd), new Uint8Array(32).fill(0xcd)]);
  expect(logger.records.map(({ level }) => level)).toEqual(["warn"]);
});

it("warns once of a secret that every user can read", () => {
  const file = join(tempDirectory(), "jwt.hex");
  const logger = createRecordingLogger();
  writeFileSync(file, "ab".repeat(32));
  chmodSync(file, 0o644);
  const secret = followJwtSecret(file, logger);
  secret();
  expect(logger.records).toEqual([expect.objectContaining({ level: "warn", fields: { file } })]);
});

it("says what cannot be read or made", () => {
  const directory = tempDirectory();
  const open = (file: string) => () => openJwtSecret(file, createRecordingLogger());
  expect(open(directory)).toThrow(`The JWT secret file ${directory} cannot be read: EISDIR`);
  expect(open(join(directory, "nowhere", "jwt.hex"))).toThrow(/jwt\.hex cannot be made: ENOENT/);
});
