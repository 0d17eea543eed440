import { StartupError } from "./exit.ts";

/** Input and output of a short-lived command. */
export interface Terminal {
  /** True if standard output is a terminal. */
  readonly isInteractive: boolean;
  /**
   * Writes to standard output. Resolves to false once the reader has closed the pipe, as `head` does. Rejects with a
   * `StartupError` if the write fails, for example because the disk is full.
   */
  write(chunk: string | Uint8Array): Promise<boolean>;
  writeError(text: string): void;
  /** Reads all of standard input. */
  readInput(): Promise<Buffer>;
}

export function processTerminal(): Terminal {
  let watched = false;
  let isClosed = false;
  const watch = () => {
    if (watched) return;
    watched = true;
    // The write callback handles the error. Without a listener, the event would crash the process.
    process.stdout.on("error", () => {
      isClosed = true;
    });
  };
  return {
    isInteractive: process.stdout.isTTY === true,
    write: (chunk) => {
      watch();
      if (isClosed) return Promise.resolve(false);
      return new Promise((resolve, reject) => {
        process.stdout.write(chunk, (error) => {
          if (!error) resolve(true);
          else if ((error as NodeJS.ErrnoException).code === "EPIPE") resolve(false);
          else reject(new StartupError("outputFailed", `Standard output cannot be written: ${error.message}.`, error));
        });
      });
    },
    writeError: (text) => process.stderr.write(text),
    readInput: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}
