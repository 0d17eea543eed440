import { LineWriter } from "./line-writer.ts";
import type { Logger } from "./logger.ts";
import { type LogFile, RotatingFile } from "./rotating-file.ts";
import { standardOutput } from "./standard-output.ts";

/** Opens the access log. Throws the system's error if the file cannot be opened. */
export function openAccessLog(where: LogFile | "standard output", logger: Logger): LineWriter {
  const sink = where === "standard output" ? standardOutput() : new RotatingFile(where);
  return new LineWriter(sink, (batches) => logger.warn("Access log records dropped", { batches }));
}
