/** Where the programs lie that a backend starts for a case: beside this file from source, in `dist/conformance` built. */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The path of `hook` or `mcpServer`. */
export const childFile = (name: "hook" | "mcpServer"): string => {
  const here = dirname(fileURLToPath(import.meta.url))
  const source = join(here, `${name}.ts`)
  if (existsSync(source)) return source
  // From a bundle: whichever chunk asks lies somewhere below dist.
  for (let at = here; ; at = dirname(at)) {
    const built = join(at, "conformance", `${name}.js`)
    if (existsSync(built) || at === dirname(at)) return built
  }
}
