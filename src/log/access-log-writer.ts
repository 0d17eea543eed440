import { LineWriter } from "./line-writer.ts";
import type { Logger } from "./logger.ts";
import { type LogFile, RotatingFile } from "./rotating-file.ts";
import { standardOutput } from "./standard-output.ts";

/** Where the access log goes. Throws the system's error when the file cannot be opened. */
export function openAccessLog(where: LogFile | "standard output", logger: Logger): LineWriter {
  const sink = where === "standard output" ? standardOutput() : new RotatingFile(where);
  return new LineWriter(sink, (batches) =>
    logger.warn("Parts of the access log were dropped because they could not be written", { batches }),
  );
}
