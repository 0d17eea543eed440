import { html } from "htm/preact";
import { grouped, short } from "../format.ts";

export const BlockLink = ({ root }: { root: string }) =>
  html`<a class="mono" href=${`#/block/${root}`} title=${root}>${short(root)}</a>`;

export const SlotLink = ({ slot }: { slot: string | number }) =>
  html`<a href=${`#/block/${slot}`}>${grouped(slot)}</a>`;

export const EpochLink = ({ epoch }: { epoch: string | number }) =>
  html`<a href=${`#/epoch/${epoch}`}>${grouped(epoch)}</a>`;

export const ValidatorLink = ({ index }: { index: string | number }) =>
  html`<a href=${`#/validator/${index}`}>${index}</a>`;

export const StateLink = ({ root }: { root: string }) =>
  html`<a class="mono" href=${`#/state/${root}`} title=${root}>${short(root)}</a>`;

export const ExecutionBlockLink = ({ number }: { number: number }) =>
  html`<a href=${`#/execution-block/${number}`}>${grouped(number)}</a>`;

export const TransactionLink = ({ hash }: { hash: string }) =>
  html`<a class="mono" href=${`#/transaction/${hash}`} title=${hash}>${short(hash)}</a>`;

export const AccountLink = ({ address }: { address: string }) =>
  html`<a class="mono" href=${`#/account/${address}`} title=${address}>${short(address)}</a>`;
