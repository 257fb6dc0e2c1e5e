/** Where this package's own backend lies, and how it is started. product section 1 (`run`). */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * The command that starts the backend of this package with this process's Node; `undefined`: the package was not built. It
 * is the same from source, from a bundle and from the library: `dist/cli.js` beside `package.json`.
 */
export const ownBackend = (): readonly [string, ...ReadonlyArray<string>] | undefined => {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    if (existsSync(join(at, "package.json"))) {
      const binary = join(at, "dist", "cli.js")
      return existsSync(binary) ? [process.execPath, binary, "serve", "--stdio"] : undefined
    }
    if (at === dirname(at)) return undefined
  }
}
