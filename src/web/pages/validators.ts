import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { aligned, counted, epochText, short } from "../format.ts";
import { hasLargeRegistry, useChain } from "../live.ts";
import { ValidatorLink } from "../parts/links.ts";
import { Problem } from "../parts/loading.ts";
import { Skeleton } from "../parts/skeleton.ts";
import { type SortableColumn, type Sorting, VirtualTable } from "../parts/virtual-table.ts";
import { useValidatorRows, type ValidatorRow, type ValidatorSortKey, type ValidatorStatus } from "./validators/rows.ts";

const STATUSES: readonly ValidatorStatus[] = [
  "pending",
  "pending_initialized",
  "pending_queued",
  "active",
  "active_ongoing",
  "active_exiting",
  "active_slashed",
  "exited",
  "exited_unslashed",
  "exited_slashed",
  "withdrawal",
  "withdrawal_possible",
  "withdrawal_done",
];

/** Number of decimals for an amount of Gwei in ETH. Balances show all of them, since rows are loaded on demand. */
const GWEI_DIGITS = 9;

const COLUMNS: readonly SortableColumn<ValidatorSortKey>[] = [
  { label: "Index", sortKey: "index" },
  { label: "Public key", isMinor: true },
  { label: "Status" },
  { label: "Balance (ETH)", sortKey: "balance", isNumber: true },
  { label: "Effective (ETH)", sortKey: "effective_balance", isNumber: true, isMinor: true },
  { label: "Active from", sortKey: "activation_epoch", isNumber: true, isMinor: true },
  { label: "Exit", sortKey: "exit_epoch", isNumber: true, isMinor: true },
];

const isIndex = (text: string) => /^\d{1,15}$/.test(text);
const isPubkey = (text: string): text is `0x${string}` => /^0x[0-9a-f]{0,96}$/i.test(text);

export function ValidatorsPage({ subject }: { subject: string | undefined }) {
  const status = STATUSES.find((each) => each === subject);
  const [sorting, setSorting] = useState<Sorting<ValidatorSortKey>>({ key: "index", isDescending: false });
  const [typed, setTyped] = useState("");
  const sought = typed.trim();
  const pubkey = isPubkey(sought) ? (sought.toLowerCase() as typeof sought) : "0x";
  const { head, slotsPerEpoch } = useChain();
  const epoch = Math.floor(Number(head.head_slot) / slotsPerEpoch);
  const version = hasLargeRegistry.value ? `epoch ${epoch}` : head.head_block_root;
  const { total, rowCount, error, rowAt, show } = useValidatorRows(
    { sort: sorting.key, descending: sorting.isDescending, status: status ? [status] : [], pubkey },
    version,
  );
  const open = (event: Event) => {
    event.preventDefault();
    const match = isIndex(sought) ? String(Number(sought)) : total === 1 ? rowAt(0)?.index : undefined;
    if (match !== undefined) location.hash = `#/validator/${match}`;
  };
  return html`<h1>Validators</h1>
    ${subject !== undefined && !status && html`<${Problem}>There is no status ${subject}.<//>`}
    <form class="filters" onSubmit=${open}>
      <label>Status
        <select value=${status ?? ""} onChange=${(event: Event) => {
          location.hash = `#/validators/${(event.currentTarget as HTMLSelectElement).value}`;
        }}>
          <option value="">all</option>
          ${STATUSES.map((each) => html`<option value=${each}>${nameOf(each)}</option>`)}
        </select>
      </label>
      <label>Index or start of a public key
        <input type="search" value=${typed} autocomplete="off" spellcheck=${false} onInput=${(event: Event) => setTyped((event.currentTarget as HTMLInputElement).value)} />
      </label>
      <span role="status">${total !== undefined && counted(total, "validator")}</span>
    </form>
    ${isIndex(sought) && html`<p><a href=${`#/validator/${Number(sought)}`}>Validator ${Number(sought)}</a></p>`}
    ${sought !== "" && !isIndex(sought) && !isPubkey(sought) && html`<${Problem}>Indices are decimal, public keys start with 0x.<//>`}
    ${error !== "" && html`<${Problem}>${error}<//>`}
    ${
      rowCount === undefined
        ? error === "" && html`<${Skeleton} />`
        : html`<${VirtualTable} caption="Validators" columns=${COLUMNS} total=${rowCount} resetKey=${`${status} ${sorting.key} ${sorting.isDescending} ${pubkey}`} sorting=${sorting} onSort=${setSorting}
            cellsAt=${(row: number) => cellsOf(rowAt(row))} onShow=${show} />`
    }`;
}

/** A group is named by the first word of its statuses. */
const nameOf = (status: string) => (status.includes("_") ? `\u00a0\u00a0${status.replaceAll("_", " ")}` : status);

function cellsOf(row: ValidatorRow | undefined) {
  if (row === undefined) return undefined;
  const { index, balance, status, validator } = row;
  return [
    html`<${ValidatorLink} index=${index} />`,
    html`<code title=${validator.pubkey}>${short(validator.pubkey)}</code>`,
    status.replaceAll("_", " "),
    ...aligned([balance], GWEI_DIGITS, GWEI_DIGITS),
    ...aligned([validator.effective_balance], GWEI_DIGITS),
    epochText(validator.activation_epoch),
    epochText(validator.exit_epoch),
  ];
}
