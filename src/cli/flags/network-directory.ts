import { statSync } from "node:fs";
import { truncate } from "../../errors/truncate.ts";
import { SettingError } from "./setting-error.ts";

/** Error codes for texts that cannot be paths because they are too long or contain a null byte. */
const NO_PATH: readonly unknown[] = ["ERR_INVALID_ARG_VALUE", "ENAMETOOLONG"];

/** Returns true if the value of --network is a directory. Throws a `SettingError` if this cannot be determined. */
export function isNetworkDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (NO_PATH.includes(code)) return false;
    const reason = message.replace(/, stat .*$/s, "");
    const problem = `${JSON.stringify(path)} cannot be read: ${reason}. Check the path, its symbolic links and permissions`;
    throw new SettingError("network", (nameOf) => `${nameOf("network")} ${problem}`, {
      reason: "unreadableInput",
      cause: error,
    });
  }
}

const MAX_SHOWN_LENGTH = 80;

/** Quotes the value of --network, without control characters and truncated to one line. */
export function shownNetwork(text: string): string {
  return JSON.stringify(truncate(text, MAX_SHOWN_LENGTH));
}
