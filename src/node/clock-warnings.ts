import type { JumpListener } from "../chain/clock/clock-jump-detector.ts";
import { SuspensionWatch } from "../chain/clock/suspension-watch.ts";
import type { Logger } from "../log/logger.ts";

/** Returns a listener that warns about jumps in the system clock. */
export function warnOnClockJump(logger: Logger): JumpListener {
  return (seconds) => logger.warn(seconds > 0 ? "System clock jumped ahead" : "System clock was set back", { seconds });
}

/** Watches for suspensions of the process and logs them. */
export function watchSuspensions(logger: Logger): SuspensionWatch {
  const watch = new SuspensionWatch();
  watch.onSuspended((seconds) => logger.warn("Process was suspended", { seconds }));
  return watch;
}
