/** What becomes of a command when nobody reads its stdout any more. */

/** Who reads no further wants no more: `magi-code sessions | head -1`. */
let end = (): void => process.exit(0)

/** To be called once, before anything is written. Nobody reading stderr changes nothing. */
export const watchOutput = (): void => {
  process.stdout.on("error", () => end())
  process.stderr.on("error", () => undefined)
}

/** From now on this happens instead, for what has to be closed first. Gives what takes it back. */
export const whenOutputCloses = (instead: () => void): (() => void) => {
  const before = end
  end = instead
  return () => {
    end = before
  }
}
