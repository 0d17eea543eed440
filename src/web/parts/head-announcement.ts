import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { grouped } from "../format.ts";
import { chainHead } from "../live.ts";

/** A dev chain's slots may be shorter than a spoken announcement. */
const ANNOUNCE_MILLIS = 10_000;

/** Periodically announces the head to screen readers. */
export function HeadAnnouncement() {
  const [text, setText] = useState("");
  useEffect(() => {
    const announce = () => {
      const head = chainHead.peek();
      if (head) setText(`Head: slot ${grouped(head.head_slot)}, finalized slot ${grouped(head.finalized_slot)}`);
    };
    announce();
    const timer = setInterval(announce, ANNOUNCE_MILLIS);
    return () => clearInterval(timer);
  }, [chainHead.value === undefined]);
  return html`<p class="visually-hidden" aria-live="polite" id="head-announcement">${text}</p>`;
}
