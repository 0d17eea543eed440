import { randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { fromHex } from "@lodestar/utils";
import type { Logger } from "../../log/logger.ts";
import { StartError } from "../start-error.ts";
import { warnIfReadableByOthers } from "./secret-file.ts";

const SECRET_BYTES = 32;
const MAX_FILE_BYTES = 4096;
const SECRET = /^(?:0x)?([0-9a-f]{64})$/i;

/** Loads the JWT secret of the Engine API. Creates the file if it does not exist, readable only by its owner. */
export function loadOrCreateJwtSecret(file: string, logger: Logger): Uint8Array {
  try {
    const secret = randomBytes(SECRET_BYTES);
    writeFileSync(file, `${secret.toString("hex")}\n`, { flag: "wx", mode: 0o600 });
    logger.notice("Created JWT secret, configure the execution client with the same file", { file });
    return new Uint8Array(secret);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      warnIfReadableByOthers(file, logger);
      return readJwtSecret(file);
    }
    throw new StartError(
      "unreadableInput",
      `The JWT secret file ${file} cannot be created: ${reasonOf(error)}.`,
      error,
    );
  }
}

/**
 * Returns a function that rereads the secret on each call. While the file is invalid, it warns and returns the previous
 * secret.
 */
export function reloadingJwtSecret(file: string, logger: Logger): () => Uint8Array {
  let secret = loadOrCreateJwtSecret(file, logger);
  let loggedReason = "";
  return () => {
    try {
      secret = readJwtSecret(file);
      loggedReason = "";
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== loggedReason) logger.warn("JWT secret reload failed, keeping the previous one", { reason });
      loggedReason = reason;
    }
    return secret;
  };
}

function readJwtSecret(file: string): Uint8Array {
  let text: string;
  try {
    // Reading a pipe might block forever.
    const stats = statSync(file);
    const isReadable = stats.isDirectory() || (stats.isFile() && stats.size <= MAX_FILE_BYTES);
    text = isReadable ? readFileSync(file, "utf8") : "";
  } catch (error) {
    throw new StartError("unreadableInput", `The JWT secret file ${file} cannot be read: ${reasonOf(error)}.`, error);
  }
  const digits = SECRET.exec(text.trim())?.[1];
  if (digits !== undefined) return fromHex(digits);
  throw new StartError(
    "unreadableInput",
    `The JWT secret file ${file} must contain exactly 64 hex digits, with or without 0x.`,
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
