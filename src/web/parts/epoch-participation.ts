import { html } from "htm/preact";
import { useParticipation } from "../epoch-votes.ts";
import { percent } from "../format.ts";

/** Shows the participation in an epoch as a number and a bar. */
export function EpochParticipation({ epoch }: { epoch: number }) {
  const votes = useParticipation(epoch);
  if (votes === undefined) return "–";
  return html`${percent(votes)} <progress class="bar minor" max="1" value=${votes} aria-label=${`Participation in epoch ${epoch}`}></progress>`;
}
