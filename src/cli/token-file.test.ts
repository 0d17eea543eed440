import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { EXIT_CODES } from "./exit.ts";
import { openToken, readSecret, readToken } from "./token-file.ts";

const folder = mkdtempSync(join(tmpdir(), "fanal-token-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("creates a token once, readable by its owner only", () => {
  const file = join(folder, "made");
  const logger = createRecordingLogger();
  const token = openToken(file, logger);
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(openToken(file, logger)).toBe(token);
  expect(readToken(file)).toBe(token);
  expect(logger.records).toEqual([expect.objectContaining({ level: "notice", fields: { file } })]);
  // The token must not be logged.
  expect(JSON.stringify(logger.records)).not.toContain(token);
  expect(openToken(join(folder, "another"), logger)).not.toBe(token);
});

it("reads an existing token and keeps its file unchanged", () => {
  const file = join(folder, "given");
  writeFileSync(file, "a-token-of-my-own/1234=\r\n");
  chmodSync(file, 0o640);
  expect(openToken(file, createRecordingLogger())).toBe("a-token-of-my-own/1234=");
  expect(readFileSync(file, "utf8")).toBe("a-token-of-my-own/1234=\r\n");
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

it("warns of a token file that all users can read", () => {
  const file = join(folder, "open");
  writeFileSync(file, "a-token-of-my-own/1234=");
  const warningsAt = (mode: number) => {
    chmodSync(file, mode);
    const logger = createRecordingLogger();
    openToken(file, logger);
    readSecret(file, "password file", logger);
    return logger.records.map(({ level, fields }) => ({ level, fields }));
  };
  expect(warningsAt(0o644)).toEqual(Array(2).fill({ level: "warn", fields: { file } }));
  for (const mode of [0o600, 0o640]) expect(warningsAt(mode)).toEqual([]);
});

it.each(["", "short", "two words of some length", "ein-schlüssel-mit-umlaut", "x".repeat(1001)])(
  "rejects a file with %j",
  (text) => {
    const file = join(folder, "wrong");
    writeFileSync(file, text);
    expect(() => openToken(file, createRecordingLogger())).toThrow(`The token file ${file} must hold a single token`);
  },
);

it("reports a file that cannot be read or created", () => {
  const file = join(folder, "nowhere", "token");
  const logger = createRecordingLogger();
  expect(() => openToken(file, logger)).toThrow(/^The token file .*nowhere\/token cannot be created: ENOENT/);
  expect(() => readToken(file)).toThrow(expect.objectContaining({ exitCode: EXIT_CODES.unreadableInput }));
});
