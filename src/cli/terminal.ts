import { StartupError } from "./exit.ts";

/** Where a command that answers at once reads and writes. */
export interface Terminal {
  /** Whether what is written is read by a person, not by another program. */
  readonly isInteractive: boolean;
  /**
   * Resolves when more can be written: to false when nobody reads on, as when `head` has seen enough. Rejects with a
   * `StartupError` when it cannot be written, as on a full disk.
   */
  write(chunk: string | Uint8Array): Promise<boolean>;
  complain(text: string): void;
  /** All of standard input. */
  readInput(): Promise<Buffer>;
}

export function processTerminal(): Terminal {
  let watched = false;
  let isClosed = false;
  const watch = () => {
    if (watched) return;
    watched = true;
    // The callback of the write tells the same; without a listener the event would end the process.
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
    complain: (text) => process.stderr.write(text),
    readInput: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}
