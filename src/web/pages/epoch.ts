import { html } from "htm/preact";
import { useParticipation } from "../epoch-votes.ts";
import { grouped, percent } from "../format.ts";
import { type KnownChain, useChain } from "../live.ts";
import { node } from "../node.ts";
import { Fields, Table } from "../parts/fields.ts";
import { BlockLink, SlotLink, ValidatorLink } from "../parts/links.ts";
import { Problem, Show, useLoaded } from "../parts/loading.ts";
import { BlockStatus, EpochStatus } from "../parts/status.ts";

type Headers = Awaited<ReturnType<typeof node.get_v1_beacon_headers>>;

interface Slot {
  slot: number;
  headers: Headers;
  proposer: string | undefined;
}

export function EpochPage({ subject }: { subject: string | undefined }) {
  const { head, time, slotsPerEpoch } = useChain();
  const current = Math.floor(time.slot / slotsPerEpoch);
  const epoch = subject === undefined ? current : Number(subject);
  const slots = useLoaded(
    (signal) => readSlots(epoch, current, slotsPerEpoch, signal),
    [epoch, current, head.head_block_root],
  );
  const votes = useParticipation(epoch);
  if (!Number.isSafeInteger(epoch) || epoch < 0)
    return html`<${Problem}>Invalid epoch ${subject}. Epochs are whole numbers.<//>`;
  const first = epoch * slotsPerEpoch;
  return html`<h1>Epoch ${grouped(epoch)}</h1>
    <p class="buttons range">
      ${epoch > 0 && html`<a href=${`#/epoch/${epoch - 1}`}>← epoch ${grouped(epoch - 1)}</a>`}
      ${epoch <= current && html`<a href=${`#/epoch/${epoch + 1}`}>epoch ${grouped(epoch + 1)} →</a>`}
    </p>
    <${Fields} of=${{
      Slots: `${grouped(first)} to ${grouped(first + slotsPerEpoch - 1)}`,
      Status: html`<${EpochStatus} epoch=${epoch} />`,
      Participation: votes === undefined ? undefined : `${percent(votes)} of the active stake`,
    }} />
    <${Show} of=${slots}>
      ${(
        value: Slot[],
      ) => html`<${Table} caption="Slots of the epoch" empty="" head=${["slot", "proposer", "block", "status"]}
        rows=${value.map(({ slot, headers, proposer }) => [
          html`<${SlotLink} slot=${slot} />`,
          proposer === undefined ? "" : html`<${ValidatorLink} index=${proposer} />`,
          headers.map(({ root }) => html`<${BlockLink} root=${root} /> `),
          stateOf(slot, headers, time),
        ])} />`}
    <//>`;
}

function stateOf(slot: number, headers: Headers, time: KnownChain["time"]) {
  if (slot > time.slot) return "to come";
  if (headers.length === 0) return "no block";
  const orphaned = headers.filter(({ canonical }) => !canonical).length;
  const block = headers.find(({ canonical }) => canonical);
  if (!block) return html`<${BlockStatus} slot=${slot} isCanonical=${false} />`;
  const status = html`<${BlockStatus} root=${block.root} slot=${slot} isCanonical=${true} />`;
  return orphaned === 0 ? status : html`${status}, <span class="is-orphaned">${orphaned} orphaned</span>`;
}

/** Reads past proposers from blocks, and upcoming proposers from the duties for this epoch and the next. */
async function readSlots(epoch: number, current: number, slotsPerEpoch: number, signal: AbortSignal): Promise<Slot[]> {
  const slots = Array.from({ length: slotsPerEpoch }, (_, index) => epoch * slotsPerEpoch + index);
  const isDutyKnown = epoch === current || epoch === current + 1;
  const [answers, duties] = await Promise.all([
    node.batch(
      slots.map((slot) => ["get_v1_beacon_headers", { slot }] as const),
      { signal },
    ),
    isDutyKnown ? node.get_v1_validator_duties_proposer({ epoch }, { signal }).catch(() => []) : [],
  ]);
  return slots.map((slot, index) => {
    const answer = answers[index]!;
    const headers = answer instanceof Error ? [] : answer;
    const duty = duties.find((each) => Number(each.slot) === slot);
    return { slot, headers, proposer: headers[0]?.header.message.proposer_index ?? duty?.validator_index };
  });
}
