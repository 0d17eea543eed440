import { errorCode } from "../../errors/error-code.ts";
import { DatabaseCorruptError, DatabaseInUseError, DatabaseOpenError, DatabaseWriteError } from "../errors.ts";

/** LevelDB reports operating system errors only as text. */
const OWN_LOCK = /already held by process/i;
const NO_ROOM = /No space left|File too large|quota exceeded|not enough space/i;

/** Converts an error thrown while opening the database. */
export function openFailure(path: string, error: unknown): Error {
  // The actual reason is the cause of LevelDB's generic "not open" error.
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  switch (errorCode(reason)) {
    case "LEVEL_LOCKED":
      return new DatabaseInUseError(path, OWN_LOCK.test(String(reason)) ? "this process" : "another process", reason);
    case "LEVEL_CORRUPTION":
      return new DatabaseCorruptError(path, reason);
    case "LEVEL_IO_ERROR":
      // LevelDB creates the files of a new database, so a missing file means damage.
      if (/No such file|cannot find the/i.test(String(reason))) return new DatabaseCorruptError(path, reason);
      return NO_ROOM.test(String(reason)) ? new DatabaseWriteError(path, reason) : new DatabaseOpenError(path, reason);
    default:
      return new DatabaseOpenError(path, reason);
  }
}
