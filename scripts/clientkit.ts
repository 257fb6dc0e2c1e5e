/**
 * Runs the conformance cases of a client, as a black box, against `run` of dist/: `node scripts/clientkit.ts [arguments of
 * their runner]`. `KIT_DIR` says where the folder `clientkit` lies; by default in `shared/` beside the checkout. Those of
 * a backend are our own: `magi-code conformance`.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runner = join(process.env["KIT_DIR"] ?? join(root, "..", "shared"), "clientkit", "run.mjs")
if (!existsSync(runner)) {
  console.error(`${runner} is not there: set KIT_DIR to the folder that holds clientkit/`)
  process.exit(1)
}
const done = spawnSync(
  process.execPath,
  [runner, ...process.argv.slice(2), "--", process.execPath, join(root, "dist", "cli.js"), "run"],
  { stdio: "inherit" }
)
process.exit(done.status ?? 1)
