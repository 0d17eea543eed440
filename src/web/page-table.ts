import type { ComponentType } from "preact";
import { grouped, short } from "./format.ts";
import { ChainPage } from "./pages/chain.ts";

export interface PageProps {
  subject: string | undefined;
}

export interface PageEntry {
  /** Name in the navigation. A page without a name is reached through links. */
  link?: string;
  /** Page whose link is marked in the navigation while this page is shown. */
  section?: string;
  /** Returns the document title. */
  title(subject: string | undefined): string;
  load(): Promise<ComponentType<PageProps>>;
  /**
   * The page keeps its state when the subject changes. All other pages are recreated, so that they never show an
   * outdated subject.
   */
  keepsState?: true;
}

/** Pages by the first part of their address. Only the first page is included in the main bundle. */
export const PAGES: Readonly<Record<string, PageEntry>> = {
  "": {
    link: "Chain",
    title: () => "Chain",
    load: async () => ChainPage,
  },
  epochs: {
    link: "Epochs",
    title: (epoch) => (epoch === undefined ? "Epochs" : `Epochs up to ${grouped(epoch)}`),
    load: async () => (await import("./pages/epochs.ts")).EpochsPage,
    keepsState: true,
  },
  epoch: {
    section: "epochs",
    title: (epoch) => (epoch === undefined ? "Current epoch" : `Epoch ${grouped(epoch)}`),
    load: async () => (await import("./pages/epoch.ts")).EpochPage,
  },
  block: {
    section: "",
    title: (id = "head") => (isNumber(id) ? `Slot ${grouped(id)}` : `Block ${short(id)}`),
    load: async () => (await import("./pages/block.ts")).BlockPage,
  },
  validator: {
    section: "validators",
    title: (id = "0") => `Validator ${short(id)}`,
    load: async () => (await import("./pages/validator.ts")).ValidatorPage,
  },
  validators: {
    link: "Validators",
    title: () => "Validators",
    load: async () => (await import("./pages/validators.ts")).ValidatorsPage,
    keepsState: true,
  },
  state: {
    link: "State",
    title: (id = "head") => `State ${short(id)}`,
    load: async () => (await import("./pages/state.ts")).StatePage,
  },
  pools: {
    link: "Pools",
    title: () => "Pools",
    load: async () => (await import("./pages/pools.ts")).PoolsPage,
  },
  peers: {
    link: "Peers",
    title: () => "Peers",
    load: async () => (await import("./pages/peers.ts")).PeersPage,
  },
  blobs: {
    link: "Blobs",
    title: (slot) => (slot === undefined ? "Blobs" : `Blobs up to slot ${grouped(slot)}`),
    load: async () => (await import("./pages/blobs.ts")).BlobsPage,
    keepsState: true,
  },
  "fork-choice": {
    link: "Fork choice",
    title: () => "Fork choice",
    load: async () => (await import("./pages/fork-choice.ts")).ForkChoicePage,
  },
  methods: {
    link: "Methods",
    title: (method) => method ?? "Methods",
    load: async () => (await import("./pages/methods.ts")).MethodsPage,
    keepsState: true,
  },
  execution: {
    title: (block) => (block === undefined ? "Execution" : `Execution blocks up to ${grouped(block)}`),
    load: async () => (await import("./pages/execution.ts")).ExecutionPage,
    keepsState: true,
  },
  "execution-block": {
    section: "execution",
    title: (id = "latest") => `Execution block ${short(id)}`,
    load: async () => (await import("./pages/execution/block.ts")).ExecutionBlockPage,
  },
  transaction: {
    section: "execution",
    title: (hash = "") => `Transaction ${short(hash)}`,
    load: async () => (await import("./pages/execution/transaction.ts")).TransactionPage,
  },
  account: {
    section: "execution",
    title: (address = "") => `Account ${short(address)}`,
    load: async () => (await import("./pages/execution/account.ts")).AccountPage,
  },
  control: {
    title: () => "Control",
    load: async () => (await import("./pages/control.ts")).ControlPage,
  },
};

const isNumber = (id: string) => /^\d+$/.test(id);
