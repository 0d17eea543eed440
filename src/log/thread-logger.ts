import { plainLogValue } from "./log-value.ts";
import { LOG_LEVELS, type LogFields, type Logger, type LogLevel, type LogTopic } from "./logger.ts";

/** A log record on its way to another thread or process. */
export type LogMessage = [
  kind: "log",
  topic: LogTopic | undefined,
  level: LogLevel,
  message: string,
  fields: LogFields | undefined,
];

/** Writes a record from another thread or process to this one's log. */
export function writeRecord(logger: Logger, [, topic, level, message, fields]: LogMessage): void {
  (topic === undefined ? logger : logger.topic(topic))[level](message, fields);
}

/** Outbox for log records. */
interface RecordOutbox {
  send(message: LogMessage): void;
}

/** Creates a logger that forwards records to the main thread or process, which filters them by level. */
export function createThreadLogger(outbox: RecordOutbox, topic?: LogTopic): Logger {
  const methodOf = (level: LogLevel) => (message: string, fields?: LogFields) =>
    outbox.send(["log", topic, level, message, fields && (plainLogValue(fields) as LogFields)]);
  const methods = Object.fromEntries(LOG_LEVELS.map((level) => [level, methodOf(level)]));
  return { ...methods, topic: (name: LogTopic) => createThreadLogger(outbox, name) } as Logger;
}
