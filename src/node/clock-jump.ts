import type { JumpListener } from "../chain/clock/jump-watch.ts";
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
