import type { Logger, LogLevel } from "./logger.ts";

export interface LogRecord {
  level: LogLevel;
  message: string;
  fields?: Record<string, unknown>;
}

export function createRecordingLogger(records: LogRecord[]): Logger {
  const at = (level: LogLevel) => (message: string, fields?: Record<string, unknown>) => {
    records.push({ level, message, fields });
  };
  const logger: Logger = {
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    notice: at("notice"),
    warn: at("warn"),
    error: at("error"),
    fatal: at("fatal"),
    topic: () => logger,
  };
  return logger;
}
