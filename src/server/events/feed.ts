/** Something that happened, encoded once for however many readers. */
export interface StreamEvent {
  readonly topic: string;
  /** JSON. */
  readonly data: Buffer;
}

/** Neither may throw: the readers after this one would miss the event. */
export interface EventReader {
  deliver(event: StreamEvent): void;
  /** So many events wait for readers that this one gets no more; its feed has ended. */
  cutOff(): void;
  /** How many it stands for, where that is not one. */
  readonly readers?: number;
}

/** What happens of some topics. */
export interface Feed {
  readonly topics: readonly string[];
  /** Starts to deliver events, in the order in which they happen; the returned function ends that. */
  open(reader: EventReader): () => void;
}

/** What a reader is told who is cut off. */
export const TOO_MANY_READERS = "More events happen than the node can tell to as many readers as there are.";
