import { plainLogValue } from "../../log/log-value.ts";
import { LOG_LEVELS, type LogFields, type Logger, type LogLevel, type LogTopic } from "../../log/logger.ts";
import type { ToMain } from "./protocol.ts";

/** Where records go, in the words of those who run apart. */
interface RecordOutbox {
  send(message: Extract<ToMain, [kind: "log", ...unknown[]]>): void;
}

/** Logs by way of the main thread or process, where it is decided which records are wanted. */
export function createThreadLogger(outbox: RecordOutbox, topic?: LogTopic): Logger {
  const methodOf = (level: LogLevel) => (message: string, fields?: LogFields) =>
    outbox.send(["log", topic, level, message, fields && (plainLogValue(fields) as LogFields)]);
  const methods = Object.fromEntries(LOG_LEVELS.map((level) => [level, methodOf(level)]));
  return { ...methods, topic: (name: LogTopic) => createThreadLogger(outbox, name) } as Logger;
}
