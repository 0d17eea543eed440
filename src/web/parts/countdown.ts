import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { chainTime, constants } from "../live.ts";

const TICK_MILLIS = 250;

/** Shows the chain time until the next slot. */
export function Countdown() {
  const [now, setNow] = useState(performance.now());
  const time = chainTime.value;
  const isFlowing = (time?.speed ?? 0) > 0;
  useEffect(() => {
    if (!isFlowing) return;
    const timer = setInterval(() => {
      setNow(performance.now());
      passSlots();
    }, TICK_MILLIS);
    return () => clearInterval(timer);
  }, [isFlowing]);
  if (!time || !constants.value) return null;
  if (!isFlowing) return "paused";
  const { secondsPerSlot } = constants.value;
  const secondsLeft = Math.max(
    0,
    Math.min(secondsPerSlot, time.secondsLeft - ((now - time.readAt) / 1000) * time.speed),
  );
  const pace = time.speed === 1 ? "" : ` · ${time.speed} × as fast`;
  return html`<progress max=${secondsPerSlot} value=${secondsPerSlot - secondsLeft} aria-label="Elapsed time of this slot"></progress>
    next in ${secondsLeft.toFixed(0)} s${pace}`;
}

/** Extrapolates chain time between updates. */
function passSlots(): void {
  const time = chainTime.value;
  if (!time || !constants.value) return;
  const { secondsPerSlot } = constants.value;
  const passed = ((performance.now() - time.readAt) / 1000) * time.speed - time.secondsLeft;
  if (passed < 0) return;
  const slots = Math.floor(passed / secondsPerSlot) + 1;
  chainTime.value = {
    ...time,
    slot: time.slot + slots,
    secondsLeft: slots * secondsPerSlot - passed,
    readAt: performance.now(),
  };
}
