import { LOG_LEVELS, type LogFields, type Logger, type LogLevel } from "../../log/logger.ts";

export interface RecordingLogger extends Logger {
  records: { level: LogLevel; message: string; fields?: LogFields }[];
}

export function createRecordingLogger(): RecordingLogger {
  const records: RecordingLogger["records"] = [];
  const methods = Object.fromEntries(
    LOG_LEVELS.map((level) => [
      level,
      (message: string, fields?: LogFields) => void records.push({ level, message, fields }),
    ]),
  ) as Record<LogLevel, (message: string, fields?: LogFields) => void>;
  const logger: RecordingLogger = { ...methods, records, topic: () => logger };
  return logger;
}
