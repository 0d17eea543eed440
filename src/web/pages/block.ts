import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { aligned, countBits, counted, eth, graffitiText, grouped, timeText } from "../format.ts";
import { hasEvm, useChain } from "../live.ts";
import { node } from "../node.ts";
import { minor, minorNumeric, numeric } from "../parts/column.ts";
import { Fields, Table } from "../parts/fields.ts";
import { JsonView } from "../parts/json-view.ts";
import { Address, BlockLink, EpochLink, SlotLink, StateLink, ValidatorLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";
import { BlockStatus } from "../parts/status.ts";
import { timeOfSlot } from "../slot-time.ts";

/** `builder_index` of a proposer's own bid (gloas/beacon-chain.md, BUILDER_INDEX_SELF_BUILD). */
const SELF_BUILD = "18446744073709551615";

interface Requests {
  deposits: unknown[];
  withdrawals: unknown[];
  consolidations: unknown[];
  builder_deposits?: unknown[];
  builder_exits?: unknown[];
}

interface Bid {
  parent_block_hash: string;
  block_hash: string;
  fee_recipient: string;
  gas_limit: string;
  builder_index: string;
  value: string;
  blob_kzg_commitments: string[];
}

type Header = Awaited<ReturnType<typeof node.get_v1_beacon_headers_blockId>>;

/** Block body fields used by the page. The set of fields depends on the fork. */
interface Body {
  graffiti: string;
  attestations: {
    aggregation_bits: string;
    committee_bits?: string;
    data: { slot: string; index: string; beacon_block_root: string };
  }[];
  deposits: unknown[];
  voluntary_exits: { message: { epoch: string; validator_index: string } }[];
  proposer_slashings: unknown[];
  attester_slashings: unknown[];
  bls_to_execution_changes?: unknown[];
  sync_aggregate?: { sync_committee_bits: string };
  execution_payload?: {
    block_hash: string;
    block_number: string;
    fee_recipient: string;
    gas_used: string;
    gas_limit: string;
    transactions: string[];
    withdrawals?: { index: string; validator_index: string; address: string; amount: string }[];
  };
  blob_kzg_commitments?: string[];
  execution_requests?: Requests;
  /** The following since gloas. */
  signed_execution_payload_bid?: { message: Bid };
  payload_attestations?: unknown[];
  parent_execution_requests?: Requests;
}

export function BlockPage({ subject = "head" }: { subject: string | undefined }) {
  // Reloads on every new head, since block ids such as "head" and the canonical status may change.
  const head = useChain().head.head_block_root;
  const header = useLoaded(
    (signal) => node.get_v1_beacon_headers_blockId({ block_id: subject }, { signal }),
    [subject, head],
  );
  const slot = header.value?.header.message.slot ?? (/^\d+$/.test(subject) ? subject : undefined);
  return html`<h1>Block ${slot === undefined ? "" : `of slot ${grouped(slot)}`}</h1>
    <${Show} of=${header}>${(value: Header) => html`<${Block} header=${value} />`}<//>
    ${header.error !== undefined && /^\d+$/.test(subject) && html`<${SlotNeighbours} slot=${Number(subject)} />`}`;
}

function SlotNeighbours({ slot }: { slot: number }) {
  const isBeforeHead = slot < Number(useChain().head.head_slot);
  return html`<p class="buttons range">
    ${slot > 0 && html`<a href=${`#/block/${slot - 1}`}>← slot ${grouped(slot - 1)}</a>`}
    ${isBeforeHead && html`<a href=${`#/block/${slot + 1}`}>slot ${grouped(slot + 1)} →</a>`}
  </p>`;
}

function Block({ header: { root, canonical, header } }: { header: Header }) {
  const { message, signature } = header;
  const chain = useChain();
  const slot = Number(message.slot);
  const block = useLoaded((signal) => node.get_v1_beacon_blocks_blockId({ block_id: root }, { signal }), [root]);
  const rewards = useLoaded(
    (signal) => node.get_v1_beacon_rewards_blocks_blockId({ block_id: root }, { signal }),
    [root],
  );
  return html`
    <${SlotNeighbours} slot=${slot} />
    <${Fields} of=${{
      Slot: grouped(slot),
      Epoch: html`<${EpochLink} epoch=${Math.floor(slot / chain.slotsPerEpoch)} />`,
      Time: `${timeText(timeOfSlot(slot, chain))} UTC`,
      Status: html`<${BlockStatus} root=${root} slot=${slot} isCanonical=${canonical} />`,
      Proposer: html`<${ValidatorLink} index=${message.proposer_index} />`,
      Root: html`<code>${root}</code>`,
      Parent: html`<${BlockLink} root=${message.parent_root} isWhole />`,
      State: html`<${StateLink} root=${message.state_root} isWhole />`,
      "Body root": html`<code>${message.body_root}</code>`,
      Signature: html`<code>${signature}</code>`,
    }} />
    <h2>Proposer rewards</h2>
    <${Show} of=${rewards}>
      ${(value: Awaited<ReturnType<typeof node.get_v1_beacon_rewards_blocks_blockId>>) =>
        html`<${Fields} of=${{
          Total: eth(value.total),
          Attestations: eth(value.attestations),
          "Sync committee": eth(value.sync_aggregate),
          Slashings: eth(BigInt(value.proposer_slashings) + BigInt(value.attester_slashings)),
        }} />`}
    <//>
    <${Show} of=${block}>
      ${(value: { message: { body: object } }) => html`<${BodyView} root=${root} body=${value.message.body as Body} />
        <h2>Raw block</h2><${JsonView} value=${value} folding="closed" />`}
    <//>`;
}

function BodyView({ root, body }: { root: string; body: Body }) {
  const payload = body.execution_payload;
  const bid = body.signed_execution_payload_bid?.message;
  const requests = body.execution_requests ?? body.parent_execution_requests;
  const commitments = body.blob_kzg_commitments ?? bid?.blob_kzg_commitments;
  return html`
    <h2>Contents</h2>
    <${Fields} of=${{
      Graffiti: graffitiText(body.graffiti) || "none",
      "Sync committee":
        body.sync_aggregate && counted(countBits(body.sync_aggregate.sync_committee_bits, "vector"), "signature"),
      Attestations: counted(body.attestations.length, "attestation"),
      Deposits: body.deposits.length,
      "Voluntary exits": html`${body.voluntary_exits.length}${body.voluntary_exits.map(({ message }) => html` <${ValidatorLink} index=${message.validator_index} />`)}`,
      "Proposer slashings": body.proposer_slashings.length,
      "Attester slashings": body.attester_slashings.length,
      "BLS to execution changes": body.bls_to_execution_changes?.length,
      Blobs: commitments?.length,
      "Payload attestations": body.payload_attestations?.length,
      [bid ? "Execution requests of the parent" : "Execution requests"]:
        requests &&
        [
          counted(requests.deposits.length, "deposit"),
          counted(requests.withdrawals.length, "withdrawal"),
          counted(requests.consolidations.length, "consolidation"),
          ...(requests.builder_deposits ? [counted(requests.builder_deposits.length, "builder deposit")] : []),
          ...(requests.builder_exits ? [counted(requests.builder_exits.length, "builder exit")] : []),
        ].join(", "),
    }} />
    ${
      commitments !== undefined &&
      commitments.length > 0 &&
      html`<h2>Blobs</h2>
      <${Blobs} key=${root} root=${root} commitments=${commitments} />`
    }
    <h2>Attestations</h2>
    <${Table} caption="Attestations of the block" empty="The block has no attestations." head=${["slot", numeric("committees"), numeric("validators"), "head block"]}
      rows=${body.attestations.map(({ aggregation_bits, committee_bits, data }) => [
        html`<${SlotLink} slot=${data.slot} />`,
        committee_bits === undefined ? data.index : committeesOf(committee_bits),
        countBits(aggregation_bits, "list"),
        html`<${BlockLink} root=${data.beacon_block_root} />`,
      ])} />
    ${
      bid &&
      html`<h2>Payload bid</h2>
      <${Fields} of=${{
        Builder: bid.builder_index === SELF_BUILD ? "the proposer" : bid.builder_index,
        Value: `${grouped(bid.value)} Gwei`,
        Hash: html`<${PayloadHash} hash=${bid.block_hash} />`,
        "Parent hash": html`<${PayloadHash} hash=${bid.parent_block_hash} />`,
        "Fee recipient": html`<${Address} address=${bid.fee_recipient} isWhole />`,
        "Gas limit": grouped(bid.gas_limit),
      }} />
      <h2>Execution payload</h2>
      <${RevealedPayload} root=${root} />`
    }
    ${
      payload &&
      html`<h2>Execution payload</h2>
      <${PayloadView} of=${payload} />`
    }`;
}

/** Shows the payload of a block since gloas, which is revealed after the block. */
function RevealedPayload({ root }: { root: string }) {
  // A payload can arrive at any time.
  const { head, time } = useChain();
  const envelope = useLoaded(
    (signal) => node.get_v1_beacon_execution_payload_envelopes_blockId({ block_id: root }, { signal }),
    [root, head.head_block_root, time.slot],
  );
  if (envelope.error !== undefined) return html`<p class="waiting">${envelope.error}</p>`;
  return html`<${Show} of=${envelope}>
    ${({ message }: { message: { payload: Payload } }) => html`<${PayloadView} of=${message.payload} />`}
  <//>`;
}

function PayloadView({ of: payload }: { of: Payload }) {
  return html`<${Fields} of=${{
    Number: grouped(payload.block_number),
    Hash: html`<${PayloadHash} hash=${payload.block_hash} />`,
    "Fee recipient": html`<${Address} address=${payload.fee_recipient} isWhole />`,
    Gas: `${grouped(payload.gas_used)} of ${grouped(payload.gas_limit)}`,
    Transactions: payload.transactions.length,
  }} />
  ${
    payload.withdrawals &&
    html`<h2>Withdrawals</h2>
    <${Withdrawals} of=${payload.withdrawals} />`
  }`;
}

/** Links to the execution block by hash, because an orphaned block shares its number with a canonical block. */
function PayloadHash({ hash }: { hash: string }) {
  const text = html`<code>${hash}</code>`;
  return hasEvm.value ? html`<a href=${`#/execution-block/${hash}`}>${text}</a>` : text;
}

type Payload = NonNullable<Body["execution_payload"]>;

function Withdrawals({ of }: { of: NonNullable<Payload["withdrawals"]> }) {
  const amounts = aligned(
    of.map(({ amount }) => amount),
    9,
  );
  return html`<${Table} caption="Withdrawals of the payload" empty="The payload has no withdrawals."
    head=${[minor("index"), "validator", "address", numeric("amount (ETH)")]}
    rows=${of.map(({ index, validator_index, address }, position) => [
      index,
      html`<${ValidatorLink} index=${validator_index} />`,
      html`<${Address} address=${address} />`,
      amounts[position],
    ])} />`;
}

/** Size of a blob: 4096 elements of 32 bytes, in every fork. */
const BLOB_BYTES = 4096 * 32;

/** Shows the blobs of a block. The data is large and therefore fetched on demand. */
function Blobs({ root, commitments }: { root: string; commitments: readonly string[] }) {
  const [isAsked, setAsked] = useState(false);
  return html`<${Table} caption="Blobs of the block" empty="" head=${["index", minorNumeric("size"), "commitment", "versioned hash"]}
      rows=${commitments.map((commitment, index) => [
        index,
        `${grouped(BLOB_BYTES)} bytes`,
        html`<code>${commitment}</code>`,
        html`<${VersionedHash} commitment=${commitment} />`,
      ])} />
    ${
      isAsked
        ? html`<${BlobData} root=${root} />`
        : html`<p><button type="button" onClick=${() => setAsked(true)}>Show the data</button></p>`
    }`;
}

function BlobData({ root }: { root: string }) {
  const blobs = useLoaded((signal) => node.get_v1_beacon_blobs_blockId({ block_id: root }, { signal }), [root]);
  return html`<${Show} of=${blobs}>${(value: string[]) => html`<${JsonView} value=${value} />`}<//>`;
}

/** deneb/beacon-chain.md, kzg_commitment_to_versioned_hash. Web Crypto is unavailable on remote pages without TLS. */
function VersionedHash({ commitment }: { commitment: string }) {
  const hash = useLoaded(async () => {
    if (globalThis.crypto?.subtle === undefined) return "unknown here";
    const bytes = Uint8Array.from(commitment.slice(2).match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return `0x01${Array.from(digest.subarray(1), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }, [commitment]);
  return html`<${Show} of=${hash}>${(value: string) => html`<code>${value}</code>`}<//>`;
}

/** Returns the committee indices of the set bits. */
function committeesOf(bits: string): string {
  const indices: number[] = [];
  (bits.slice(2).match(/../g) ?? []).forEach((digits, byte) => {
    for (let bit = 0; bit < 8; bit++) if ((Number.parseInt(digits, 16) >> bit) & 1) indices.push(byte * 8 + bit);
  });
  return indices.length > 4 ? `${indices[0]} to ${indices.at(-1)}` : indices.join(", ");
}
