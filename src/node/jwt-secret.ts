import { randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { fromHex } from "@lodestar/utils";
import type { Logger } from "../log/logger.ts";
import { warnIfReadableByOthers } from "./secret-file.ts";
import { StartError } from "./start-error.ts";

const SECRET_BYTES = 32;
/** More than a secret with all that may be around it. */
const MOST_FILE_BYTES = 4096;
const SECRET = /^(?:0x)?([0-9a-f]{64})$/i;

/** The secret that this node shares with its execution clients; a new one is put there, for its owner alone to read, when there is no such file. */
export function openJwtSecret(file: string, logger: Logger): Uint8Array {
  try {
    const secret = randomBytes(SECRET_BYTES);
    writeFileSync(file, `${secret.toString("hex")}\n`, { flag: "wx", mode: 0o600 });
    logger.notice("A secret for the execution client was made: give it the same file", { file });
    return new Uint8Array(secret);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      warnIfReadableByOthers(file, logger);
      return readJwtSecret(file);
    }
    throw new StartError("unreadableInput", `The JWT secret file ${file} cannot be made: ${reasonOf(error)}.`, error);
  }
}

/** The secret of the file whenever it is asked for. While the file cannot be used, that is the one of before, and the log says why. */
export function followJwtSecret(file: string, logger: Logger): () => Uint8Array {
  let secret = openJwtSecret(file, logger);
  let told = "";
  return () => {
    try {
      secret = readJwtSecret(file);
      told = "";
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== told) logger.warn("The secret of before is used for the execution client", { reason });
      told = reason;
    }
    return secret;
  };
}

function readJwtSecret(file: string): Uint8Array {
  let text: string;
  try {
    // Reading what is no file, such as a pipe, might never end.
    const stats = statSync(file);
    const mayHold = stats.isDirectory() || (stats.isFile() && stats.size <= MOST_FILE_BYTES);
    text = mayHold ? readFileSync(file, "utf8") : "";
  } catch (error) {
    throw new StartError("unreadableInput", `The JWT secret file ${file} cannot be read: ${reasonOf(error)}.`, error);
  }
  const digits = SECRET.exec(text.trim())?.[1];
  if (digits !== undefined) return fromHex(digits);
  throw new StartError(
    "unreadableInput",
    `The JWT secret file ${file} must hold 64 hexadecimal digits, with or without 0x before them, and nothing else.`,
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
