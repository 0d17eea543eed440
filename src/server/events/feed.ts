/** Something that happened, encoded once for however many readers. */
export interface StreamEvent {
  readonly topic: string;
  /** JSON. */
  readonly data: Buffer;
}

/** Must not throw: the readers after this one would miss the event. */
export type Deliver = (event: StreamEvent) => void;

/** Starts to deliver events, each as it happens; the returned function ends that. */
export type Feed = (deliver: Deliver) => () => void;
