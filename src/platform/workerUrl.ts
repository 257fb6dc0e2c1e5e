/**
 * Where the code of a worker thread lies. It is beside its caller when the program runs from source (`.ts`) or as the
 * library that `tsc` built, and in `dist/workers/` when it runs from a bundle, whichever chunk of it asks.
 */
import { existsSync } from "node:fs"

/** How many folders above a caller `workers/` is looked for: `dist/lib/agent/code-mode` lies three below `dist`. */
const FOLDERS_UP = 4

/**
 * The module to start a worker with.
 *
 * @param name the entry's file name without its ending, for example `storeWorker`
 * @param from the caller's `import.meta.url`; the entry's source lies in the same folder
 */
export const workerUrl = (name: string, from: string): URL => {
  if (from.endsWith(".ts")) return new URL(`./${name}.ts`, from)
  const beside = new URL(`./${name}.js`, from)
  if (existsSync(beside)) return beside
  for (let up = 0; up <= FOLDERS_UP; up++) {
    const bundled = new URL(`./${"../".repeat(up)}workers/${name}.js`, from)
    if (existsSync(bundled)) return bundled
  }
  return beside
}
