/** Real time, which every machine shows alike, whatever a chain's own clock does. */
export interface TimeOfDay {
  /** Unix seconds, with a fraction. */
  nowSeconds(): number;
}

export const TIME_OF_DAY: TimeOfDay = { nowSeconds: () => Date.now() / 1000 };
