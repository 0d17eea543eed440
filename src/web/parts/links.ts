import { html } from "htm/preact";
import { grouped, short } from "../format.ts";
import { hasEvm } from "../live.ts";

interface RootProps {
  root: string;
  /** Shows the root unabbreviated. */
  isWhole?: true;
}

const HexLink = ({ href, hex, isWhole }: { href: string; hex: string; isWhole: true | undefined }) =>
  isWhole
    ? html`<a href=${href}><code>${hex}</code></a>`
    : html`<a class="mono" href=${href} title=${hex}>${short(hex)}</a>`;

export const BlockLink = ({ root, isWhole }: RootProps) =>
  html`<${HexLink} href=${`#/block/${root}`} hex=${root} isWhole=${isWhole} />`;

export const SlotLink = ({ slot }: { slot: string | number }) =>
  html`<a href=${`#/block/${slot}`}>${grouped(slot)}</a>`;

export const EpochLink = ({ epoch }: { epoch: string | number }) =>
  html`<a href=${`#/epoch/${epoch}`}>${grouped(epoch)}</a>`;

export const ValidatorLink = ({ index }: { index: string | number }) =>
  html`<a href=${`#/validator/${index}`}>${index}</a>`;

export const StateLink = ({ root, isWhole }: RootProps) =>
  html`<${HexLink} href=${`#/state/${root}`} hex=${root} isWhole=${isWhole} />`;

export const ExecutionBlockLink = ({ number }: { number: number }) =>
  html`<a href=${`#/execution-block/${number}`}>${grouped(number)}</a>`;

export const TransactionLink = ({ hash }: { hash: string }) =>
  html`<a class="mono" href=${`#/transaction/${hash}`} title=${hash}>${short(hash)}</a>`;

interface AddressProps {
  address: string;
  /** Shows the address unabbreviated. */
  isWhole?: true;
}

export const AccountLink = ({ address, isWhole }: AddressProps) =>
  html`<${HexLink} href=${`#/account/${address}`} hex=${address} isWhole=${isWhole} />`;

/** Shows an address, which is a link if the node has accounts. */
export function Address({ address, isWhole }: AddressProps) {
  if (hasEvm.value) return html`<${AccountLink} address=${address} isWhole=${isWhole} />`;
  return isWhole ? html`<code>${address}</code>` : html`<span class="mono" title=${address}>${short(address)}</span>`;
}
