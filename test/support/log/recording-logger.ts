import { LOG_LEVELS, type LogFields, type Logger, type LogLevel } from "../../../src/log/logger.ts";

export interface LogRecord {
  level: LogLevel;
  message: string;
  fields?: LogFields;
}

export interface RecordingLogger extends Logger {
  records: LogRecord[];
}

/** Creates a logger that records every level and topic in memory. */
export function createRecordingLogger(records: LogRecord[] = []): RecordingLogger {
  const methods = Object.fromEntries(
    LOG_LEVELS.map((level) => [
      level,
      (message: string, fields?: LogFields) => void records.push({ level, message, fields }),
    ]),
  ) as Omit<Logger, "topic">;
  const logger: RecordingLogger = { ...methods, records, topic: () => logger };
  return logger;
}
