import type { JumpListener } from "../chain/clock/jump-watch.ts";
import { SuspensionWatch } from "../chain/clock/suspension-watch.ts";
import type { Logger } from "../log/logger.ts";

/** Tells whoever looks after the machine that its time of day did not run evenly. */
export function warnOfJumps(logger: Logger): JumpListener {
  return (seconds) =>
    logger.warn(
      seconds > 0
        ? "The time of day jumped ahead; unless the machine slept, look at what sets its clock"
        : "The time of day was set back; look at what sets the machine's clock",
      { seconds },
    );
}

/** Logs suspensions of the process, so that what follows from them is not blamed on anything else. */
export function watchSuspensions(logger: Logger): SuspensionWatch {
  const watch = new SuspensionWatch();
  watch.onSuspended((seconds) => logger.warn("Process was suspended", { seconds }));
  return watch;
}
