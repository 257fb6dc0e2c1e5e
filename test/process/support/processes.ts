/** Waiting for what must come to be, and looking at processes by their numbers. */
import { readdirSync, readFileSync } from "node:fs"
import { isGone } from "../../client/support/processes.ts"

/** Looks every few milliseconds until it is so; fails after `millis`. */
export const until = async (what: string, isSo: () => boolean, millis = 12_000): Promise<void> => {
  const end = performance.now() + millis
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`waited ${millis} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Those of the processes that still run. */
export const running = (pids: ReadonlyArray<number>): ReadonlyArray<number> => pids.filter((pid) => !isGone(pid))

/** Pids of the processes below one, at any depth, that have not ended. */
export const descendants = (root: number): ReadonlyArray<number> => {
  const parents = new Map<number, number>()
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      if (fields[0] !== "Z" && fields[0] !== "X") parents.set(Number(name), Number(fields[1]))
    } catch {
      // Gone meanwhile.
    }
  }
  const below = (pid: number): ReadonlyArray<number> =>
    [...parents].flatMap(([child, parent]) => (parent === pid ? [child, ...below(child)] : []))
  return below(root)
}

/** The numbers that a file holds, one a line; none where there is no file yet. */
export const pidsIn = (file: string): ReadonlyArray<number> => {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => /^\d+$/.test(line))
      .map(Number)
  } catch {
    return []
  }
}
