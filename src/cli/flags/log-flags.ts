import { resolve } from "node:path";
import { LOG_LEVELS } from "../../log/logger.ts";
import { LOG_FORMATS, type LogFormat } from "../../log/pino-logger.ts";
import type { LogFile } from "../../log/rotating-file.ts";
import { type FlagTable, type FlagValues, valueFlag } from "./flag.ts";
import { logSpec, nonEmpty, oneOf, wholeNumber } from "./flag-values.ts";

export const LOG_FLAGS = {
  logLevel: valueFlag({
    name: "log-level",
    kind: "text",
    placeholder: "SPEC",
    description: 'Log level, or a specification such as "INFO; TRACE:chain; DISABLED:rpc"',
    choices: LOG_LEVELS.map((level) => level.toUpperCase()),
    fallback: "INFO",
    parse: logSpec,
  }),
  logFormat: valueFlag({
    name: "log-format",
    kind: "text",
    placeholder: "FORMAT",
    description: "Format of the log, text or json",
    choices: LOG_FORMATS,
    fallback: "text",
    parse: oneOf(LOG_FORMATS),
  }),
  logFile: valueFlag({
    name: "log-file",
    kind: "text",
    placeholder: "FILE",
    description: "Log file, in addition to standard output; readable by its owner only",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  logFileSize: valueFlag({
    name: "log-file-size",
    kind: "number",
    placeholder: "MIB",
    description: "Size at which the log file is rotated to FILE.1, FILE.2 and so on",
    fallback: 64,
    parse: wholeNumber(1, 1_000_000),
  }),
  logFileCount: valueFlag({
    name: "log-file-count",
    kind: "number",
    placeholder: "COUNT",
    description: "Number of log files kept, including the current one",
    fallback: 5,
    parse: wholeNumber(1, 1000),
  }),
  accessLog: valueFlag({
    name: "access-log",
    kind: "text",
    placeholder: "FILE|-",
    description: "Access log with one line of JSON per request, rotated like the log file; - is standard output",
    fallback: undefined,
    parse: nonEmpty("a file or -"),
  }),
} as const satisfies FlagTable;

export interface LogSettings {
  /** Log specification. */
  spec: string;
  format: LogFormat;
  /** Undefined to log to standard output only. */
  file: LogFile | undefined;
  /** Undefined to disable the access log. */
  accessLog: LogFile | "standard output" | undefined;
}

export function logSettings(values: FlagValues<typeof LOG_FLAGS>, workingDirectory: string): LogSettings {
  const { logLevel: spec, logFormat: format, logFile, accessLog } = values;
  const fileAt = (path: string): LogFile => ({
    path: resolve(workingDirectory, path),
    maxBytes: values.logFileSize * 1024 * 1024,
    count: values.logFileCount,
  });
  return {
    spec,
    format,
    file: logFile === undefined ? undefined : fileAt(logFile),
    accessLog: accessLog === undefined ? undefined : accessLog === "-" ? "standard output" : fileAt(accessLog),
  };
}
