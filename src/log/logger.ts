export const LOG_LEVELS = ["trace", "debug", "info", "notice", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Record<string, unknown>;
type LogMethod = (message: string, fields?: LogFields) => void;

/** A record belongs to one topic (`chain`, `rpc`, …), by which log specifications select it. */
export type Logger = Record<LogLevel, LogMethod> & {
  topic(name: string): Logger;
};
