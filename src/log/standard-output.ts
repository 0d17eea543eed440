import { constants, openSync, writeSync } from "node:fs";
import { errorCode } from "../errors/error-code.ts";
import type { ByteSink } from "./line-writer.ts";

/** Returns standard output as a sink with non-blocking writes. */
export function standardOutput(): ByteSink {
  const descriptor = process.stdout.isTTY ? reopenedTerminal() : pipeOrFile();
  return {
    write(bytes) {
      try {
        return writeSync(descriptor, bytes);
      } catch (error) {
        if (errorCode(error) === "EAGAIN") return 0;
        throw error;
      }
    },
  };
}

/** Opens the terminal in non-blocking mode, because Ctrl-S or a hung connection would block it. */
function reopenedTerminal(): number {
  try {
    return openSync("/dev/stdout", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return process.stdout.fd;
  }
}

/** Accessing `process.stdout` makes Node set pipes and sockets to non-blocking mode. Files never block. */
function pipeOrFile(): number {
  return process.stdout.fd;
}
