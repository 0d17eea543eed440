import type { RestTwin } from "../../src/catalogue/entry.ts";
import type { ConformanceChain, TestedFork } from "./conformance-chain.ts";
import type { DocumentVersion } from "./openapi.ts";

/** The operation of a document against whose response a result is checked. */
export interface TwinReference {
  document: DocumentVersion;
  operation: RestTwin;
  /** Which of the forms that the response may have; the first one is that of the fork which the document is used for. */
  variant?: number;
  /** What the operation has beside its data, but the older version that the method is the twin of has not. */
  younger?: readonly string[];
}

export interface MethodCase {
  /** The parameters of one call that must succeed, by position. */
  params(chain: ConformanceChain): unknown[] | Promise<unknown[]>;
  /** The twin, where it is not the catalogue's in the document of the fork. */
  twin?: Partial<Record<TestedFork, TwinReference>>;
  /** The code that the call answers with on a fork which has no such thing. */
  refused?: Partial<Record<TestedFork, number>>;
}
