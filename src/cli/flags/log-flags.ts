import { LOG_LEVELS } from "../../log/logger.ts";
import { LOG_FORMATS } from "../../log/pino-logger.ts";
import { type FlagTable, type FlagValues, valueFlag } from "./flag.ts";
import { logSpec, nonEmpty, oneOf, wholeNumber } from "./flag-values.ts";

export const LOG_FLAGS = {
  logLevel: valueFlag({
    name: "log-level",
    kind: "text",
    placeholder: "SPEC",
    description: 'What is logged: a level, or a specification such as "INFO; TRACE:chain; DISABLED:rpc"',
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
    description: "File that the log is written to as well, readable by its owner alone",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  logFileSize: valueFlag({
    name: "log-file-size",
    kind: "number",
    placeholder: "MIB",
    description: "Size at which the log file is set aside as FILE.1, the one before as FILE.2, and so on",
    fallback: 64,
    parse: wholeNumber(1, 1_000_000),
  }),
  logFileCount: valueFlag({
    name: "log-file-count",
    kind: "number",
    placeholder: "COUNT",
    description: "How many log files are kept, the current one included",
    fallback: 5,
    parse: wholeNumber(1, 1000),
  }),
  accessLog: valueFlag({
    name: "access-log",
    kind: "text",
    placeholder: "FILE|-",
    description:
      "File that gets a line of JSON for every request, set aside as the log file is; - stands for standard output",
    fallback: undefined,
    parse: nonEmpty("a file or -"),
  }),
} as const satisfies FlagTable;

export type LogValues = FlagValues<typeof LOG_FLAGS>;
