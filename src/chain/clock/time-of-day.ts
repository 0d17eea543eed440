/** Real time, independent of the chain's clock. */
export interface TimeOfDay {
  /** Unix seconds, with a fraction. */
  nowSeconds(): number;
}

export const TIME_OF_DAY: TimeOfDay = { nowSeconds: () => Date.now() / 1000 };
