import { plainLogValue } from "../../log/log-value.ts";
import { LOG_LEVELS, type LogFields, type Logger, type LogLevel, type LogTopic } from "../../log/logger.ts";
import type { ToMain } from "./protocol.ts";

/** Outbox for log records. */
interface RecordOutbox {
  send(message: Extract<ToMain, [kind: "log", ...unknown[]]>): void;
}

/** Creates a logger that forwards records to the main thread or process, which filters them by level. */
export function createThreadLogger(outbox: RecordOutbox, topic?: LogTopic): Logger {
  const methodOf = (level: LogLevel) => (message: string, fields?: LogFields) =>
    outbox.send(["log", topic, level, message, fields && (plainLogValue(fields) as LogFields)]);
  const methods = Object.fromEntries(LOG_LEVELS.map((level) => [level, methodOf(level)]));
  return { ...methods, topic: (name: LogTopic) => createThreadLogger(outbox, name) } as Logger;
}
