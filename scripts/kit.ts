/**
 * Runs the conformance cases of one side against dist/: `node scripts/kit.ts kit|clientkit [arguments of their runner]`.
 * `KIT_DIR` says where the two folders lie; by default in `shared/` beside the checkout.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [side = "kit", ...args] = process.argv.slice(2)
const runner = join(process.env.KIT_DIR ?? join(root, "..", "shared"), side, "run.mjs")
if (!existsSync(runner)) {
  console.error(`${runner} is not there: set KIT_DIR to the folder that holds kit/ and clientkit/`)
  process.exit(1)
}
const command = side === "kit" ? ["serve", "--stdio"] : ["run"]
const done = spawnSync(
  process.execPath,
  [runner, ...args, "--", process.execPath, join(root, "dist", "cli.js"), ...command],
  { stdio: "inherit" }
)
process.exit(done.status ?? 1)
