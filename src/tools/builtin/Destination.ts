/**
 * Where a path leads, whether or not anything is there: what cannot be opened has no real path of its own, and still it
 * must be known whether it lies outside the workspace. product section 2.
 */
import { readlink } from "node:fs/promises"
import { dirname, join, parse, sep } from "node:path"

/** As many links as the system itself follows in one path. */
const LINKS = 40

/** The absolute path that `path` (absolute) leads to: links are followed as far as there are any, the rest is taken as it is. */
export const destinationOf = async (path: string): Promise<string> => {
  const { root } = parse(path)
  let at = root
  let names = path.slice(root.length).split(sep)
  for (let links = 0; ; ) {
    const [name, ...rest] = names
    if (name === undefined) return at
    names = rest
    if (name === "..") at = dirname(at)
    if (name === "" || name === "." || name === "..") continue
    const next = join(at, name)
    const target = links < LINKS ? await readlink(next).catch(() => undefined) : undefined
    if (target === undefined) {
      at = next
      continue
    }
    links += 1
    if (target.startsWith(sep)) at = root
    names = [...target.split(sep), ...rest]
  }
}
