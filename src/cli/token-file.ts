import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { Logger } from "../log/logger.ts";
import { warnIfReadableByOthers } from "../node/execution/secret-file.ts";
import { StartupError } from "./exit.ts";

const TOKEN_BYTES = 32;
/** Printable ASCII, long enough to be unguessable. */
const TOKEN = /^[\x21-\x7e]{16,1000}$/;

/**
 * Reads the token from the file. If the file is missing, creates it with a random token, readable only by its owner.
 */
export function openToken(file: string, logger: Logger): string {
  try {
    const token = randomBytes(TOKEN_BYTES).toString("hex");
    writeFileSync(file, `${token}\n`, { flag: "wx", mode: 0o600 });
    logger.notice("Created token file", { file });
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new StartupError("unreadableInput", `The token file ${file} cannot be created: ${reasonOf(error)}.`, error);
    }
    warnIfReadableByOthers(file, logger);
    return readToken(file);
  }
}

export function readToken(file: string): string {
  const token = readSecret(file, "token file");
  if (TOKEN.test(token)) return token;
  throw new StartupError(
    "unreadableInput",
    `The token file ${file} must hold a single token of 16 to 1000 printable ASCII characters.`,
  );
}

/** Reads and trims a secret file. Warns if other users can read it. */
export function readSecret(file: string, noun: string, logger?: Pick<Logger, "warn">): string {
  try {
    if (logger) warnIfReadableByOthers(file, logger);
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new StartupError("unreadableInput", `The ${noun} ${file} cannot be read: ${reasonOf(error)}.`, error);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
