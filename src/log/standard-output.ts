import { constants, openSync, writeSync } from "node:fs";
import type { ByteSink } from "./line-writer.ts";

/** Standard output, of which no write ever waits for whoever reads it. */
export function standardOutput(): ByteSink {
  const descriptor = process.stdout.isTTY ? reopenedTerminal() : pipeOrFile();
  return {
    write(bytes) {
      try {
        return writeSync(descriptor, bytes);
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0;
        throw error;
      }
    },
  };
}

/** A terminal stops taking anything when it is told to (Ctrl-S) or when its connection hangs. */
function reopenedTerminal(): number {
  try {
    return openSync("/dev/stdout", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return process.stdout.fd;
  }
}

/** Asking for the stream makes Node take pipes and sockets out of their blocking mode; files never block. */
function pipeOrFile(): number {
  return process.stdout.fd;
}
