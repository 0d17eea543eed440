import { expect, it } from "vitest";
import { StateUnavailableError } from "../chain/states/state-store.ts";
import { DatabaseOpenError, DatabaseWriteError } from "../db/errors.ts";
import { PayloadUnavailableError } from "../execution/engine.ts";
import { withFailures } from "./chain-failures.ts";

it("returns the result of a successful call", async () => {
  expect(await withFailures(async (a: number, b: number) => a + b)(1, 2)).toBe(3);
  expect(await withFailures(() => "at once")()).toBe("at once");
});

it.each([
  [new StateUnavailableError("0x01", "block 0x02 is not stored"), "not-found"],
  [new PayloadUnavailableError("There is no payload."), "unavailable"],
])("converts a chain error to a failure: %s", async (error, kind) => {
  const call = withFailures(() => Promise.reject(error));
  await expect(call()).rejects.toMatchObject({ name: "Failure", kind, message: error.message });
});

it.each([
  [Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }), /^The disk is full: ENOSPC/],
  [Object.assign(new Error("EROFS: read-only file system, open"), { code: "EROFS" }), /^The disk is read-only: EROFS/],
  [
    new DatabaseWriteError("/db", new Error("No space left on device")),
    /^The disk is full\. The database at \/db could/,
  ],
  [new DatabaseOpenError("/db", new Error("Permission denied")), /^The database at \/db cannot be opened: Permission/],
])("converts a disk error to a failure: %s", async (error, message) => {
  const call = withFailures(() => Promise.reject(error));
  await expect(call()).rejects.toMatchObject({ kind: "server", message: expect.stringMatching(message), cause: error });
});

it("leaves other errors unchanged", async () => {
  const defect = new TypeError("a mistake");
  const call = withFailures(() => {
    throw defect;
  });
  await expect(call()).rejects.toBe(defect);
});
