import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { Logger } from "../log/logger.ts";
import { warnIfReadableByOthers } from "../node/execution/secret-file.ts";
import { StartupError } from "./exit.ts";

const TOKEN_BYTES = 32;
/** What a header can carry and nobody guesses. */
const TOKEN = /^[\x21-\x7e]{16,1000}$/;

/** The token in the file; a new one is put there, for its owner alone to read, when there is no such file. */
export function openToken(file: string, logger: Logger): string {
  try {
    const token = randomBytes(TOKEN_BYTES).toString("hex");
    writeFileSync(file, `${token}\n`, { flag: "wx", mode: 0o600 });
    logger.notice("A token for callers was made", { file });
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new StartupError("unreadableInput", `The token file ${file} cannot be made: ${reasonOf(error)}.`, error);
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
    `The token file ${file} must hold one word of 16 to 1000 letters, digits and signs, and nothing else.`,
  );
}

/** What the file holds, but for blanks around it. The log, where there is one, says when other users can read it. */
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
