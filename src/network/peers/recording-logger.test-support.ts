import type { Logger } from "../../log/logger.ts";

export interface RecordingLogger extends Logger {
  /** What was logged at info and above. */
  readonly lines: string[];
}

export function recordingLogger(): RecordingLogger {
  const lines: string[] = [];
  const note = (message: string) => {
    lines.push(message);
  };
  const logger: RecordingLogger = {
    lines,
    trace() {},
    debug() {},
    info: note,
    notice: note,
    warn: note,
    error: note,
    fatal: note,
    topic: () => logger,
  };
  return logger;
}
