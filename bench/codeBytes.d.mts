/** Bytes of the heap that are compiled code and what belongs to it. */
export const codeBytes: () => number
