import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PlacedBlock } from "../chain-tree.ts";

const COLUMN = 16;
const LANE = 22;
const SIZE = 12;
const TOP = 8;
const LABELS = 34;
const NARROWEST_SLOTS = 16;

interface BandProps {
  blocks: readonly PlacedBlock[];
  currentSlot: number;
  finalizedSlot: number;
  justifiedSlot: number;
  slotsPerEpoch: number;
}

/**
 * Draws recent slots from left to right, with a legend. Canonical blocks are in the lowest lane and branches above.
 * Slots without a canonical block are drawn as frames.
 */
export function Band({ blocks, currentSlot, finalizedSlot, justifiedSlot, slotsPerEpoch }: BandProps) {
  const container = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    if (container.current) observer.observe(container.current);
    return () => observer.disconnect();
  }, []);
  const count = Math.max(NARROWEST_SLOTS, Math.floor(width / COLUMN) - 1);
  const first = Math.max(0, currentSlot - count + 1);
  const visibleBlocks = blocks.filter(({ slot }) => slot >= first);
  const byRoot = new Map(blocks.map((block) => [block.root, block]));
  const lanes = 1 + Math.max(1, ...visibleBlocks.map(({ lane }) => lane));
  const height = TOP + lanes * LANE + LABELS;
  const x = (slot: number) => (slot - first) * COLUMN + COLUMN / 2;
  const y = (lane: number) => TOP + (lanes - 1 - lane) * LANE + LANE / 2;
  const filled = new Set(visibleBlocks.filter(({ lane }) => lane === 0).map(({ slot }) => slot));
  const slots = Array.from({ length: currentSlot - first + 1 }, (_, index) => first + index);
  const bottom = TOP + lanes * LANE;

  return html`<div ref=${container}>
    <svg class="band" viewBox=${`0 0 ${Math.max(width, 1)} ${height}`} height=${height} role="group" aria-label=${`Slots ${first} to ${currentSlot}`}>
      ${slots
        .filter((slot) => slot % slotsPerEpoch === 0)
        .map(
          (slot) => html`<g key=${`epoch-${slot}`}>
            <line class="epoch" x1=${x(slot) - COLUMN / 2} x2=${x(slot) - COLUMN / 2} y1="0" y2=${height} />
            <text x=${x(slot) - COLUMN / 2 + 3} y=${height - 6}>epoch ${slot / slotsPerEpoch}</text>
          </g>`,
        )}
      <${Reach} name="justified" to=${justifiedSlot} first=${first} x=${x} y=${bottom + 8} />
      <${Reach} name="finalized" to=${finalizedSlot} first=${first} x=${x} y=${bottom + 8} />
      ${visibleBlocks.map((block) => {
        const parent = byRoot.get(block.parentRoot);
        if (!parent || parent.slot < first) return null;
        return html`<path key=${`edge-${block.root}`} class="edge" d=${edge(x(parent.slot), y(parent.lane), x(block.slot), y(block.lane))} />`;
      })}
      ${slots
        .filter((slot) => !filled.has(slot) && slot < currentSlot)
        .map(
          (
            slot,
          ) => html`<rect key=${`missed-${slot}`} class="missed" x=${x(slot) - SIZE / 2} y=${y(0) - SIZE / 2} width=${SIZE} height=${SIZE} rx="2">
            <title>Slot ${slot}: no block on the chain</title>
          </rect>`,
        )}
      ${visibleBlocks.map((block) => {
        const state = block.lane > 0 ? "orphaned" : block.slot <= finalizedSlot ? "final" : "";
        const name = `Slot ${block.slot}, ${state || "on the chain"}${block.proposer === undefined ? "" : `, proposed by ${block.proposer}`}`;
        return html`<a key=${block.root} href=${`#/block/${block.root}`} aria-label=${name}>
          <rect class=${`block ${state}`} x=${x(block.slot) - SIZE / 2} y=${y(block.lane) - SIZE / 2} width=${SIZE} height=${SIZE} rx="2">
            <title>${name}</title>
          </rect>
        </a>`;
      })}
      <line class="now" x1=${x(currentSlot) + COLUMN / 2} x2=${x(currentSlot) + COLUMN / 2} y1="0" y2=${bottom} />
    </svg>
    <ul class="legend">
      <li class="is-canonical">on the chain</li>
      <li class="is-final">final</li>
      <li class="is-orphaned">orphaned</li>
      <li class="is-missed">no block on the chain</li>
      <li class="is-canonical is-line">justified</li>
      <li class="is-final is-line">finalized</li>
      <li class="is-now">current slot</li>
    </ul>
  </div>`;
}

function edge(x1: number, y1: number, x2: number, y2: number): string {
  return y1 === y2
    ? `M${x1} ${y1}H${x2}`
    : `M${x1} ${y1}C${x1 + COLUMN / 2} ${y1} ${x1 + COLUMN / 2} ${y2} ${x2} ${y2}`;
}

interface ReachProps {
  name: "justified" | "finalized";
  to: number;
  first: number;
  x: (slot: number) => number;
  y: number;
}

/** Draws a line below the chain that ends at the justified or finalized slot. */
function Reach({ name, to, first, x, y }: ReachProps) {
  if (to < first) return null;
  return html`<rect class=${name} x="0" y=${y} width=${x(to)} height="3"><title>${name} up to slot ${to}</title></rect>`;
}
